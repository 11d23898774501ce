// bug: crash
// fixed: 2 executions
// says: a null pointer is used
#include <pthread.h>
#include <stdatomic.h>
static int target = 1;
static _Atomic(int *) pointer;
static void *set(void *unused) {
    atomic_store(&pointer, &target);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    int *seen = atomic_load(&pointer);
#ifndef BUG
    if (seen)
#endif
        *(volatile int *)seen;
    pthread_join(thread, 0);
    return 0;
}
