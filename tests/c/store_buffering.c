// bug: failed assertion
// fixed: 4 executions
// says: ended with both
#include <pthread.h>
#include <stdatomic.h>
#include <unpick.h>
static atomic_int x, y;
static int a, b;
static void *left(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_release);
    a = atomic_load_explicit(&y, memory_order_acquire);
    return unused;
}
static void *right(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_release);
    b = atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, left, 0);
    pthread_create(&other, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    unpick_label("ended with both");
#ifdef BUG
    unpick_require(a || b);
#endif
    return 0;
}
