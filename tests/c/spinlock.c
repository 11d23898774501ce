// bug: data race
// fixed: 2 executions
#include <pthread.h>
static pthread_spinlock_t lock;
static int data;
static void *use(void *unused) {
#ifdef BUG
    int taken = pthread_spin_trylock(&lock) == 0;
    data++;
    if (taken)
        pthread_spin_unlock(&lock);
#else
    pthread_spin_lock(&lock);
    data++;
    pthread_spin_unlock(&lock);
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_spin_init(&lock, 0);
    pthread_create(&thread, 0, use, 0);
    use(0);
    pthread_join(thread, 0);
    pthread_spin_destroy(&lock);
    return 0;
}
