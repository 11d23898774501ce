// bug mutex_timedlock: deadlock
// fixed mutex_timedlock: 2 executions
// bug mutex_clocklock: deadlock
// fixed mutex_clocklock: 2 executions
// bug rwlock_timedrdlock: deadlock
// fixed rwlock_timedrdlock: 2 executions
// bug rwlock_clockrdlock: deadlock
// fixed rwlock_clockrdlock: 2 executions
// bug rwlock_timedwrlock: deadlock
// fixed rwlock_timedwrlock: 2 executions
// bug rwlock_clockwrlock: deadlock
// fixed rwlock_clockwrlock: 2 executions
// bug sem_timedwait: deadlock
// fixed sem_timedwait: 2 executions, 2 blocked
// bug sem_clockwait: deadlock
// fixed sem_clockwait: 2 executions, 2 blocked
// bug cond_timedwait: deadlock
// fixed cond_timedwait: 1 executions
// bug futex: deadlock
// fixed futex: 4 executions
// settings: UNPICK_TIMEOUTS=never

// Waits with a limit on time that never give up: what nobody gives back is waited for without end.
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static atomic_uint word;
static const struct timespec soon = {2000000000, 0};

static int (*take)(void);
static int (*give)(void);

static void *holder(void *unused) {
    assert(take() == 0);
#ifndef BUG
    assert(give() == 0);
#endif
    return unused;
}

static int mutex_timedlock(void) { return pthread_mutex_timedlock(&mutex, &soon); }
static int mutex_clocklock(void) { return pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &soon); }
static int mutex_unlock(void) { return pthread_mutex_unlock(&mutex); }
static int timedrdlock(void) { return pthread_rwlock_timedrdlock(&rwlock, &soon); }
static int clockrdlock(void) { return pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &soon); }
static int timedwrlock(void) { return pthread_rwlock_timedwrlock(&rwlock, &soon); }
static int clockwrlock(void) { return pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &soon); }
static int rwlock_write(void) { return pthread_rwlock_wrlock(&rwlock); }
static int rwlock_unlock(void) { return pthread_rwlock_unlock(&rwlock); }
static int sem_timed(void) { return sem_timedwait(&semaphore, &soon); }
static int sem_clock(void) { return sem_clockwait(&semaphore, CLOCK_REALTIME, &soon); }
static int sem_give(void) { return sem_post(&semaphore); }

/* Another thread holds the lock for a while. */
static void lock(int (*other)(void), int (*own)(void), int (*back)(void)) {
    pthread_t thread;
    sem_init(&semaphore, 0, 1);
    take = other;
    give = back;
    pthread_create(&thread, 0, holder, 0);
    assert(own() == 0);
    assert(back() == 0);
    pthread_join(thread, 0);
}

#define LOCK(name, other, own, back) \
    static void name(void) { lock(other, own, back); }
LOCK(case_mutex_timedlock, mutex_timedlock, mutex_timedlock, mutex_unlock)
LOCK(case_mutex_clocklock, mutex_clocklock, mutex_clocklock, mutex_unlock)
LOCK(case_timedrdlock, rwlock_write, timedrdlock, rwlock_unlock)
LOCK(case_clockrdlock, rwlock_write, clockrdlock, rwlock_unlock)
LOCK(case_timedwrlock, rwlock_write, timedwrlock, rwlock_unlock)
LOCK(case_clockwrlock, rwlock_write, clockwrlock, rwlock_unlock)
LOCK(case_sem_timedwait, sem_timed, sem_timed, sem_give)
LOCK(case_sem_clockwait, sem_clock, sem_clock, sem_give)

static void *waker(void *unused) {
#ifndef BUG
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}

/* The other thread is started with the mutex held, so that it cannot be too early. */
static void cond_timedwait(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, waker, 0);
    assert(pthread_cond_timedwait(&condition, &mutex, &soon) == 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
}

static void *futex_waker(void *unused) {
    atomic_store(&word, 1);
#ifndef BUG
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
#endif
    return unused;
}

static void futex(void) {
    pthread_t thread;
    pthread_create(&thread, 0, futex_waker, 0);
    if (syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon, 0, 0) == 0)
        assert(atomic_load(&word) == 1);
    pthread_join(thread, 0);
}

CASES({"mutex_timedlock", case_mutex_timedlock}, {"mutex_clocklock", case_mutex_clocklock},
      {"rwlock_timedrdlock", case_timedrdlock}, {"rwlock_clockrdlock", case_clockrdlock},
      {"rwlock_timedwrlock", case_timedwrlock}, {"rwlock_clockwrlock", case_clockwrlock},
      {"sem_timedwait", case_sem_timedwait}, {"sem_clockwait", case_sem_clockwait},
      {"cond_timedwait", cond_timedwait}, {"futex", futex})
