// bug: crash
// fixed: 2 executions
// says: an arithmetic error
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static volatile int sink;
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&x);
#ifdef BUG
    sink = 10 / seen;
#endif
    pthread_join(thread, 0);
    return 0;
}
