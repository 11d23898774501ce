// bug: crash
// fixed: 2 executions
// says: the process is ended by signal 6
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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
    if (seen)
        raise(SIGABRT);
#endif
    pthread_join(thread, 0);
    return seen == 2;
}
