// bug: deadlock
// fixed: 10 executions
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int open_;
static void *visitor(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!open_)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, visitor, 0);
    pthread_create(&b, 0, visitor, 0);
    pthread_mutex_lock(&mutex);
    open_ = 1;
#ifdef BUG
    pthread_cond_signal(&condition);
#else
    pthread_cond_broadcast(&condition);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
