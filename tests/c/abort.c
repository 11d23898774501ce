// bug: abort
// fixed: 2 executions
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&x);
#ifdef BUG
    if (!seen)
        abort();
#endif
    pthread_join(thread, 0);
    return 0;
}
