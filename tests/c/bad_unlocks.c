// bug mutex: bad unlock
// fixed mutex: 1 executions
// bug spinlock: bad unlock
// fixed spinlock: 1 executions
// bug rwlock: bad unlock
// fixed rwlock: 1 executions
// bug rwlock_of_reader: bad unlock
// fixed rwlock_of_reader: 2 executions
// bug wait_without: bad unlock
// fixed wait_without: holds
// bug mtx: bad unlock
// fixed mtx: 1 executions

// Locks that are given back by somebody who does not have them.
#include <pthread.h>
#include <threads.h>
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static mtx_t c11_mutex;
static int ready;

#ifdef BUG
#define UNLESS_BUG(call) (void)0
#else
#define UNLESS_BUG(call) call
#endif

static void by_mutex(void) {
    UNLESS_BUG(pthread_mutex_lock(&mutex));
    pthread_mutex_unlock(&mutex);
}

static void by_spinlock(void) {
    pthread_spin_init(&spinlock, 0);
    UNLESS_BUG(pthread_spin_lock(&spinlock));
    pthread_spin_unlock(&spinlock);
}

static void by_rwlock(void) {
    UNLESS_BUG(pthread_rwlock_rdlock(&rwlock));
    pthread_rwlock_unlock(&rwlock);
}

static void *reads(void *unused) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return unused;
}

static void by_rwlock_of_reader(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reads, 0);
    UNLESS_BUG(pthread_rwlock_wrlock(&rwlock));
    pthread_rwlock_unlock(&rwlock);
    pthread_join(thread, 0);
}

static void *signals(void *unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* Whoever waits gives back a mutex that it must have. */
static void wait_without(void) {
    pthread_t thread;
    pthread_create(&thread, 0, signals, 0);
#ifdef BUG
    pthread_cond_wait(&condition, &mutex);
#else
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
}

static void by_mtx(void) {
    mtx_init(&c11_mutex, mtx_plain);
    UNLESS_BUG(mtx_lock(&c11_mutex));
    mtx_unlock(&c11_mutex);
}

CASES({"mutex", by_mutex}, {"spinlock", by_spinlock}, {"rwlock", by_rwlock},
      {"rwlock_of_reader", by_rwlock_of_reader}, {"wait_without", wait_without}, {"mtx", by_mtx})
