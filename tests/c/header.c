// bug: failed assertion
// fixed: 3 executions, 4 blocked
// says: the number is 2
#include <pthread.h>
#include <stdatomic.h>
#include <unpick.h>
static atomic_int x, turns;
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    unsigned number = unpick_choose(4);
    unpick_assume(number < 3);
    unpick_label("the number is %u", number);
    pthread_create(&thread, 0, set, 0);
    unpick_await(atomic_load(&x));
    pthread_join(thread, 0);
#ifdef BUG
    unpick_require(number != 2);
#endif
    return 0;
}
