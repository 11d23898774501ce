// violated: failed assertion
// A loop around pthread_cond_timedwait of three attempts that makes a new deadline each time, and a signal: time-outs are taken to be few.
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
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&condition);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    pthread_mutex_lock(&lock);
    for (int tries = 0; !ready && tries < 3; tries++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        int code = pthread_cond_timedwait(&condition, &lock, &until);
        assert(code == 0);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
