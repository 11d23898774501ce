// bug: failing exit
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
    pthread_join(thread, 0);
#ifdef BUG
    return seen ? 0 : 3;
#else
    exit(0);
#endif
}
