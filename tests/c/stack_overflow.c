// bug: crash
// fixed: 2 executions
// says: the stack has overflowed
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int deep(volatile int *from) {
    volatile int here[64];
    here[0] = *from + 1;
#ifdef BUG
    int below = deep(here);
#else
    int below = here[0] > 100 ? 0 : deep(here);
#endif
    return below + here[0];
}
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    volatile int start = 0;
    if (atomic_load(&x))
        deep(&start);
    pthread_join(thread, 0);
    return 0;
}
