// bug: crash
// fixed: 2 executions
// says: goes round without end
// settings: UNPICK_HANG=300ms
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static volatile int turns;
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&x);
#ifdef BUG
    while (!seen)
        turns++;
#endif
    pthread_join(thread, 0);
    return 0;
}
