// holds
// A thread spins for 200 rounds and then waits for a condition.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t set = PTHREAD_COND_INITIALIZER;
static void *act(void *unused) {
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&flag, 1, memory_order_release);
    pthread_cond_signal(&set);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    for (int round = 0; round < 200; round++)
        if (atomic_load_explicit(&flag, memory_order_acquire))
            break;
    pthread_mutex_lock(&lock);
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        pthread_cond_wait(&set, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
