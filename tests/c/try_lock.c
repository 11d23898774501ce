// bug: failed assertion
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *other(void *unused) {
    pthread_mutex_lock(&mutex);
    done++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
#ifdef BUG
    struct timespec when = {0, 0};
    assert(pthread_mutex_timedlock(&mutex, &when) == 0);
#else
    pthread_mutex_lock(&mutex);
#endif
    done++;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
