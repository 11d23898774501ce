// bug pthread_cond_broadcast: deadlock
// fixed pthread_cond_broadcast: 10 executions
// bug cnd_broadcast: deadlock
// fixed cnd_broadcast: 10 executions

// Two threads wait for one condition: both must be woken.
#include <pthread.h>
#include <threads.h>
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static int ready;

static void *waits(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void posix(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, waits, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
#ifdef BUG
    pthread_cond_signal(&condition);
#else
    pthread_cond_broadcast(&condition);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

static int waits_too(void *unused) {
    (void)unused;
    mtx_lock(&c11_mutex);
    while (!ready)
        cnd_wait(&c11_condition, &c11_mutex);
    mtx_unlock(&c11_mutex);
    return 0;
}

static void c11(void) {
    thrd_t a, b;
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    thrd_create(&a, waits_too, 0);
    thrd_create(&b, waits_too, 0);
    mtx_lock(&c11_mutex);
    ready = 1;
#ifdef BUG
    cnd_signal(&c11_condition);
#else
    cnd_broadcast(&c11_condition);
#endif
    mtx_unlock(&c11_mutex);
    thrd_join(a, 0);
    thrd_join(b, 0);
    cnd_destroy(&c11_condition);
    mtx_destroy(&c11_mutex);
}

CASES({"pthread_cond_broadcast", posix}, {"cnd_broadcast", c11})
