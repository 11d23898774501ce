// holds
// A loop around pthread_cond_timedwait with a deadline.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static void *act(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    struct timespec until;
    int code = 0;
    pthread_create(&thread, 0, act, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_mutex_lock(&lock);
    while (!ready && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&condition, &lock, &until);
    assert(ready || code == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
