// bug pthread_cond_timedwait: failed assertion
// fixed pthread_cond_timedwait: 4 executions
// bug pthread_cond_clockwait: failed assertion
// fixed pthread_cond_clockwait: 4 executions
// bug cnd_timedwait: failed assertion
// fixed cnd_timedwait: 4 executions

// Waits that may give up: either the condition is true, or the time is over, and then it is as late as that.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static int ready, posix;
static struct timespec when;

static void lock(void) { assert(posix ? !pthread_mutex_lock(&mutex) : mtx_lock(&c11_mutex) == thrd_success); }
static void unlock(void) { assert(posix ? !pthread_mutex_unlock(&mutex) : mtx_unlock(&c11_mutex) == thrd_success); }

static void *setter(void *unused) {
    lock();
    ready = 1;
    if (posix)
        pthread_cond_signal(&condition);
    else
        cnd_signal(&c11_condition);
    unlock();
    return unused;
}

static int by_time(void) { return pthread_cond_timedwait(&condition, &mutex, &when); }
static int by_clock(void) { return pthread_cond_clockwait(&condition, &mutex, CLOCK_REALTIME, &when); }
static int by_c11(void) {
    int code = cnd_timedwait(&c11_condition, &c11_mutex, &when);
    return code == thrd_timedout ? ETIMEDOUT : code;
}

static void waits(int (*wait)(void)) {
    pthread_t thread;
    struct timespec now;
    pthread_cond_init(&condition, 0);
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    pthread_create(&thread, 0, setter, 0);
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 5;
    lock();
    int code = 0;
    while (!ready && code == 0)
        code = wait();
    clock_gettime(CLOCK_REALTIME, &now);
    assert(code == 0 || code == ETIMEDOUT);
#ifdef BUG
    assert(ready);
#else
    assert(ready || now.tv_sec >= when.tv_sec);
#endif
    unlock();
    pthread_join(thread, 0);
    pthread_cond_destroy(&condition);
    cnd_destroy(&c11_condition);
}

static void pthread_timed(void) {
    posix = 1;
    waits(by_time);
}
static void pthread_clock(void) {
    posix = 1;
    waits(by_clock);
}
static void c11_timed(void) { waits(by_c11); }

CASES({"pthread_cond_timedwait", pthread_timed}, {"pthread_cond_clockwait", pthread_clock},
      {"cnd_timedwait", c11_timed})
