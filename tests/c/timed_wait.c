// bug: failed assertion
// fixed: 4 executions
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static void *setter(void *unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    struct timespec when;
    pthread_create(&thread, 0, setter, 0);
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 1;
    pthread_mutex_lock(&mutex);
    int code = 0;
    while (!ready && code == 0)
        code = pthread_cond_timedwait(&condition, &mutex, &when);
#ifdef BUG
    assert(ready);
#else
    assert(ready || code == ETIMEDOUT);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
