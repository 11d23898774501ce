// bug semaphore: deadlock
// fixed semaphore: 1 executions, 1 blocked
// bug barrier: deadlock
// fixed barrier: 2 executions
// bug condition: deadlock
// fixed condition: 2 executions
// bug futex: deadlock
// fixed futex: 5 executions
// bug spinlock: deadlock
// fixed spinlock: 2 executions
// bug rwlock_read: deadlock
// fixed rwlock_read: 2 executions
// bug rwlock_write: deadlock
// fixed rwlock_write: 2 executions
// bug mutex: deadlock
// fixed mutex: 2 executions
// bug once: deadlock
// fixed once: 2 executions
// bug join: deadlock
// fixed join: 2 executions
// says semaphore: and nobody is left to give it a permit

// Threads that wait for what nobody does: a deadlock, whatever they wait for.
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cases.h"

static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_once_t once = PTHREAD_ONCE_INIT, other_once = PTHREAD_ONCE_INIT;
static atomic_int word;
static int ready;

static void with(void *(*work)(void *), void (*own)(void)) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    own();
    pthread_join(thread, 0);
}

static void *posts(void *unused) {
#ifndef BUG
    sem_post(&semaphore);
#endif
    return unused;
}
static void takes(void) { assert(sem_wait(&semaphore) == 0); }
static void by_semaphore(void) {
    sem_init(&semaphore, 0, 0);
    with(posts, takes);
    sem_destroy(&semaphore);
}

static void *comes(void *unused) {
#ifndef BUG
    pthread_barrier_wait(&barrier);
#endif
    return unused;
}
static void waits_too(void) { pthread_barrier_wait(&barrier); }
static void by_barrier(void) {
    pthread_barrier_init(&barrier, 0, 2);
    with(comes, waits_too);
    pthread_barrier_destroy(&barrier);
}

static void *signals(void *unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
#ifndef BUG
    pthread_cond_signal(&condition);
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void is_signalled(void) {
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}
static void by_condition(void) { with(signals, is_signalled); }

static void *wakes(void *unused) {
    atomic_store(&word, 1);
#ifndef BUG
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
#endif
    return unused;
}
static void sleeps(void) {
    while (!atomic_load(&word))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}
static void by_futex(void) { with(wakes, sleeps); }

/* A lock that is not given back. */
#define LOCK(name, take, take_too, give)         \
    static void *name##_other(void *unused) {    \
        take;                                    \
        if (!BROKEN)                             \
            give;                                \
        return unused;                           \
    }                                            \
    static void name##_own(void) {               \
        take_too;                                \
        give;                                    \
    }                                            \
    static void by_##name(void) {                \
        pthread_spin_init(&spinlock, 0);         \
        with(name##_other, name##_own);          \
    }
#ifdef BUG
#define BROKEN 1
#else
#define BROKEN 0
#endif
LOCK(mutex, pthread_mutex_lock(&mutex), pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCK(spinlock, pthread_spin_lock(&spinlock), pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock))
LOCK(rwlock_read, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK(rwlock_write, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))

static void nothing(void) {}
static void nested(void) {
#ifdef BUG
    pthread_once(&once, nothing);
#else
    pthread_once(&other_once, nothing);
#endif
}
static void *does_once(void *unused) {
    pthread_once(&once, nested);
    return unused;
}
static void once_too(void) { pthread_once(&once, nested); }
static void by_once(void) { with(does_once, once_too); }

static pthread_t main_thread;
static void *joins(void *unused) {
#ifdef BUG
    pthread_join(main_thread, 0);
#endif
    return atomic_load(&word) ? unused : 0;
}
static void by_join(void) {
    pthread_t thread;
    main_thread = pthread_self();
    pthread_create(&thread, 0, joins, 0);
    atomic_store(&word, 1);
    pthread_join(thread, 0);
}

CASES({"semaphore", by_semaphore}, {"barrier", by_barrier}, {"condition", by_condition}, {"futex", by_futex}, {"spinlock", by_spinlock}, {"rwlock_read", by_rwlock_read}, {"rwlock_write", by_rwlock_write}, {"mutex", by_mutex}, {"once", by_once}, {"join", by_join})
