// bug: livelock
// fixed: 1 executions, 1 blocked
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
static void *set(void *unused) {
#ifndef BUG
    atomic_store_explicit(&ready, 1, memory_order_release);
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    pthread_join(thread, 0);
    return 0;
}
