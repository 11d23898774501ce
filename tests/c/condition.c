// bug: deadlock
// fixed: 2 executions
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int tokens;
static void *taker(void *unused) {
    pthread_mutex_lock(&mutex);
    while (tokens == 0)
        pthread_cond_wait(&condition, &mutex);
    tokens--;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, taker, 0);
    pthread_mutex_lock(&mutex);
    tokens++;
#ifndef BUG
    pthread_cond_signal(&condition);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    pthread_cond_destroy(&condition);
    return 0;
}
