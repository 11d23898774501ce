// bug sem_wait: data race
// fixed sem_wait: 1 executions, 1 blocked
// bug sem_getvalue: data race
// fixed sem_getvalue: 1 executions, 1 blocked
// bug barrier: data race
// fixed barrier: 2 executions
// bug once: data race
// fixed once: 2 executions
// bug call_once: data race
// fixed call_once: 2 executions
// bug read_lock: data race
// fixed read_lock: 2 executions
// bug write_lock: data race
// fixed write_lock: 2 executions
// bug spin_lock: data race
// fixed spin_lock: 2 executions
// bug mutex: data race
// fixed mutex: 2 executions
// bug mtx: data race
// fixed mtx: 2 executions
// bug create: data race
// fixed create: 1 executions
// bug futex: data race
// fixed futex: 5 executions
// bug recursive: data race
// fixed recursive: 2 executions
// bug destroy: data race
// fixed destroy: 1 executions
// bug failed_trylock: data race
// fixed failed_trylock: holds

// What orders the work of two threads, and what does not: data that one writes before and the other reads after are safe, and the
// bug is in using something in place of it that orders nothing.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>
#include "cases.h"

static int data;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static mtx_t c11_mutex;
static atomic_int word;

/* One thread gives, the other takes. */
static void (*giving)(void);
static void *gives(void *unused) {
    giving();
    return unused;
}
static void with(void (*give)(void), void (*take)(void)) {
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_spin_init(&spinlock, 0);
    mtx_init(&c11_mutex, mtx_plain);
    giving = give;
    pthread_create(&thread, 0, gives, 0);
    take();
    pthread_join(thread, 0);
}

static void posts(void) {
    data = 1;
    sem_post(&semaphore);
}
static void takes_permit(void) {
#ifdef BUG
    data++;
#endif
    sem_wait(&semaphore);
    assert(data >= 1);
}
static void by_sem_wait(void) { with(posts, takes_permit); }

/* To see that there is a permit is not to have it. */
static void looks_at_permits(void) {
    int value = 0;
#ifdef BUG
    sem_getvalue(&semaphore, &value);
    if (value == 1)
        assert(data == 1);
    sem_wait(&semaphore);
#else
    sem_wait(&semaphore);
    assert(sem_getvalue(&semaphore, &value) == 0 && value == 0);
    assert(data == 1);
#endif
}
static void by_sem_getvalue(void) { with(posts, looks_at_permits); }

static void comes(void) {
    data = 1;
    pthread_barrier_wait(&barrier);
#ifdef BUG
    data = 2;
#endif
}
static void comes_too(void) {
    pthread_barrier_wait(&barrier);
    assert(data >= 1);
}
static void by_barrier(void) { with(comes, comes_too); }

static void makes(void) { data++; }
static void does_once(void) {
    pthread_once(&once, makes);
#ifdef BUG
    data++;
#endif
    assert(data >= 1);
}
static void by_once(void) { with(does_once, does_once); }
static void calls_once(void) {
    call_once(&flag, makes);
#ifdef BUG
    data++;
#endif
    assert(data >= 1);
}
static void by_call_once(void) { with(calls_once, calls_once); }

#ifdef BUG
#define UNLESS_BUG(call) (void)0
#else
#define UNLESS_BUG(call) call
#endif

/* Both take the lock; in the bug, one does not. */
#define LOCK(name, lock, lock_too, unlock)      \
    static void name##_writes(void) {           \
        lock;                                   \
        data++;                                 \
        unlock;                                 \
    }                                           \
    static void name##_reads(void) {            \
        UNLESS_BUG(lock_too);                   \
        assert(data == 0 || data == 1);         \
        UNLESS_BUG(unlock);                     \
    }                                           \
    static void by_##name(void) { with(name##_writes, name##_reads); }
LOCK(mutex, pthread_mutex_lock(&mutex), pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCK(mtx, mtx_lock(&c11_mutex), mtx_lock(&c11_mutex), mtx_unlock(&c11_mutex))
LOCK(spin_lock, pthread_spin_lock(&spinlock), pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock))
LOCK(read_lock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK(write_lock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))

/* A recursive mutex is free only when it was given back as often as it was taken. */
static void locks_twice(void) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    assert(pthread_mutex_trylock(&recursive) == 0);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
#ifdef BUG
    pthread_mutex_unlock(&recursive);
#endif
    data++;
#ifndef BUG
    pthread_mutex_unlock(&recursive);
#endif
}
static void by_recursive(void) {
    pthread_mutexattr_t attributes;
    int type;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    assert(pthread_mutexattr_gettype(&attributes, &type) == 0 && type == PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    pthread_mutexattr_destroy(&attributes);
    with(locks_twice, locks_twice);
    assert(data == 2);
}

static void *is_created(void *unused) {
    assert(data == 1);
    return unused;
}
static void by_create(void) {
    pthread_t thread;
    data = 1;
    pthread_create(&thread, 0, is_created, 0);
#ifdef BUG
    data = 1;
#endif
    pthread_join(thread, 0);
}

static void wakes(void) {
    data = 1;
#ifdef BUG
    atomic_store_explicit(&word, 1, memory_order_relaxed);
#else
    atomic_store_explicit(&word, 1, memory_order_release);
#endif
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
}
static void sleeps(void) {
    while (!atomic_load_explicit(&word, memory_order_acquire))
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
    assert(data == 1);
}
static void by_futex(void) { with(wakes, sleeps); }

/* To destroy a lock is to write to it: whoever uses it must have ended that before. */
static void *uses_all(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void by_destroy(void) {
    pthread_t thread;
    pthread_create(&thread, 0, uses_all, 0);
#ifdef BUG
    pthread_mutex_destroy(&mutex);
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    assert(pthread_mutex_destroy(&mutex) == 0);
#endif
}

/* To see that a lock is taken orders nothing. */
static void locks_and_writes(void) {
    pthread_mutex_lock(&guard);
    data = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&guard);
    pthread_mutex_unlock(&mutex);
}
static void fails_to_lock(void) {
    int code = pthread_mutex_trylock(&mutex);
    if (code == 0)
        pthread_mutex_unlock(&mutex);
#ifndef BUG
    pthread_mutex_lock(&guard);
#endif
    if (code == EBUSY)
        assert(data == 1);
#ifndef BUG
    pthread_mutex_unlock(&guard);
#endif
}
static void by_failed_trylock(void) { with(locks_and_writes, fails_to_lock); }

CASES({"sem_wait", by_sem_wait}, {"sem_getvalue", by_sem_getvalue}, {"barrier", by_barrier}, {"once", by_once},
      {"call_once", by_call_once}, {"read_lock", by_read_lock}, {"write_lock", by_write_lock},
      {"spin_lock", by_spin_lock}, {"mutex", by_mutex}, {"mtx", by_mtx}, {"create", by_create},
      {"futex", by_futex}, {"recursive", by_recursive}, {"destroy", by_destroy},
      {"failed_trylock", by_failed_trylock})
