// bug mutex_trylock: data race
// fixed mutex_trylock: 4 executions
// bug mutex_timedlock: data race
// fixed mutex_timedlock: 4 executions
// bug mutex_clocklock: data race
// fixed mutex_clocklock: 4 executions
// bug mtx_trylock: data race
// fixed mtx_trylock: 4 executions
// bug mtx_timedlock: data race
// fixed mtx_timedlock: 4 executions
// bug spin_trylock: data race
// fixed spin_trylock: 4 executions
// bug rwlock_trywrlock: data race
// fixed rwlock_trywrlock: 4 executions
// bug rwlock_timedwrlock: data race
// fixed rwlock_timedwrlock: 4 executions
// bug rwlock_clockwrlock: data race
// fixed rwlock_clockwrlock: 4 executions
// bug sem_trywait: data race
// fixed sem_trywait: 4 executions
// bug sem_timedwait: data race
// fixed sem_timedwait: 4 executions
// bug sem_clockwait: data race
// fixed sem_clockwait: 4 executions
// bug rwlock_tryrdlock: data race
// fixed rwlock_tryrdlock: 4 executions
// bug rwlock_timedrdlock: data race
// fixed rwlock_timedrdlock: 4 executions
// bug rwlock_clockrdlock: data race
// fixed rwlock_clockrdlock: 4 executions

// Locks that are taken or not. Who has one is ordered after whoever had it before; who has not must leave the data alone.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static mtx_t c11_mutex;
static pthread_spinlock_t spinlock;
static pthread_rwlock_t rwlock;
static sem_t semaphore;
static const struct timespec soon = {2000000000, 0};
static int data;

/* Whether the lock was taken; the other code is the only one that may come instead. */
static int taken(int code, int other) {
    assert(code == 0 || code == other);
    return code == 0;
}

static int sem_taken(int result, int other) { return taken(result ? errno : 0, other); }

static int (*attempt)(void);
static void (*give)(void);

static int mutex_trylock(void) { return taken(pthread_mutex_trylock(&mutex), EBUSY); }
static int mutex_timedlock(void) { return taken(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT); }
static int mutex_clocklock(void) {
    return taken(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
}
static void mutex_unlock(void) { assert(pthread_mutex_unlock(&mutex) == 0); }

static int c11_trylock(void) { return taken(mtx_trylock(&c11_mutex), thrd_busy); }
static int c11_timedlock(void) { return taken(mtx_timedlock(&c11_mutex, &soon), thrd_timedout); }
static void c11_unlock(void) { assert(mtx_unlock(&c11_mutex) == thrd_success); }

static int spin_trylock(void) { return taken(pthread_spin_trylock(&spinlock), EBUSY); }
static void spin_unlock(void) { assert(pthread_spin_unlock(&spinlock) == 0); }

static int rwlock_trywrlock(void) { return taken(pthread_rwlock_trywrlock(&rwlock), EBUSY); }
static int rwlock_timedwrlock(void) { return taken(pthread_rwlock_timedwrlock(&rwlock, &soon), ETIMEDOUT); }
static int rwlock_clockwrlock(void) {
    return taken(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &soon), ETIMEDOUT);
}
static int rwlock_tryrdlock(void) { return taken(pthread_rwlock_tryrdlock(&rwlock), EBUSY); }
static int rwlock_timedrdlock(void) { return taken(pthread_rwlock_timedrdlock(&rwlock, &soon), ETIMEDOUT); }
static int rwlock_clockrdlock(void) {
    return taken(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &soon), ETIMEDOUT);
}
static void rwlock_unlock(void) { assert(pthread_rwlock_unlock(&rwlock) == 0); }

static int sem_attempt(void) { return sem_taken(sem_trywait(&semaphore), EAGAIN); }
static int sem_timed(void) { return sem_taken(sem_timedwait(&semaphore, &soon), ETIMEDOUT); }
static int sem_clock(void) { return sem_taken(sem_clockwait(&semaphore, CLOCK_REALTIME, &soon), ETIMEDOUT); }
static void sem_give(void) { assert(sem_post(&semaphore) == 0); }

static void *writer(void *unused) {
    int got = attempt();
#ifndef BUG
    if (got)
#endif
        data++;
    if (got)
        give();
    return unused;
}

static void prepare(void) {
    mtx_init(&c11_mutex, mtx_timed);
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    pthread_rwlock_init(&rwlock, 0);
    sem_init(&semaphore, 0, 1);
}

static void finish(void) {
    mtx_destroy(&c11_mutex);
    pthread_spin_destroy(&spinlock);
    pthread_rwlock_destroy(&rwlock);
    sem_destroy(&semaphore);
    pthread_mutex_destroy(&mutex);
}

/* Two threads that write. */
static void writers(int (*take)(void), void (*back)(void)) {
    pthread_t thread;
    prepare();
    attempt = take;
    give = back;
    pthread_create(&thread, 0, writer, 0);
    writer(0);
    pthread_join(thread, 0);
#ifndef BUG
    assert(data == 1 || data == 2);
#endif
    finish();
}

/* One that writes, and one that reads. */
static void reader(int (*take)(void)) {
    pthread_t thread;
    prepare();
    attempt = rwlock_trywrlock;
    give = rwlock_unlock;
    pthread_create(&thread, 0, writer, 0);
    int got = take();
#ifndef BUG
    if (got)
#endif
        assert(data == 0 || data == 1);
    if (got)
        rwlock_unlock();
    pthread_join(thread, 0);
    finish();
}

#define WRITERS(name, take, back) \
    static void name(void) { writers(take, back); }
WRITERS(case_mutex_trylock, mutex_trylock, mutex_unlock)
WRITERS(case_mutex_timedlock, mutex_timedlock, mutex_unlock)
WRITERS(case_mutex_clocklock, mutex_clocklock, mutex_unlock)
WRITERS(case_mtx_trylock, c11_trylock, c11_unlock)
WRITERS(case_mtx_timedlock, c11_timedlock, c11_unlock)
WRITERS(case_spin_trylock, spin_trylock, spin_unlock)
WRITERS(case_rwlock_trywrlock, rwlock_trywrlock, rwlock_unlock)
WRITERS(case_rwlock_timedwrlock, rwlock_timedwrlock, rwlock_unlock)
WRITERS(case_rwlock_clockwrlock, rwlock_clockwrlock, rwlock_unlock)
WRITERS(case_sem_trywait, sem_attempt, sem_give)
WRITERS(case_sem_timedwait, sem_timed, sem_give)
WRITERS(case_sem_clockwait, sem_clock, sem_give)
static void case_rwlock_tryrdlock(void) { reader(rwlock_tryrdlock); }
static void case_rwlock_timedrdlock(void) { reader(rwlock_timedrdlock); }
static void case_rwlock_clockrdlock(void) { reader(rwlock_clockrdlock); }

CASES({"mutex_trylock", case_mutex_trylock}, {"mutex_timedlock", case_mutex_timedlock},
      {"mutex_clocklock", case_mutex_clocklock}, {"mtx_trylock", case_mtx_trylock},
      {"mtx_timedlock", case_mtx_timedlock}, {"spin_trylock", case_spin_trylock},
      {"rwlock_trywrlock", case_rwlock_trywrlock}, {"rwlock_timedwrlock", case_rwlock_timedwrlock},
      {"rwlock_clockwrlock", case_rwlock_clockwrlock}, {"rwlock_tryrdlock", case_rwlock_tryrdlock},
      {"rwlock_timedrdlock", case_rwlock_timedrdlock}, {"rwlock_clockrdlock", case_rwlock_clockrdlock},
      {"sem_trywait", case_sem_trywait}, {"sem_timedwait", case_sem_timedwait},
      {"sem_clockwait", case_sem_clockwait})
