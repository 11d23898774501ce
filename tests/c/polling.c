// bug sleeps: livelock
// fixed sleeps: 2 executions, 1 blocked
// bug gives_up: livelock
// fixed gives_up: holds
// bug both: livelock
// bug exchange: livelock
// fixed exchange: holds
// bug hint: livelock
// fixed hint: 1 executions, 2 blocked

// Loops that look again and again, and change something in between that they change back.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include <unpick.h>
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done, never;

static void *sets(void *unused) {
    pthread_mutex_lock(&mutex);
#ifndef BUG
    done = 1;
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void poll(const int *flag) {
    pthread_mutex_lock(&mutex);
    while (!*flag) {
        pthread_mutex_unlock(&mutex);
        usleep(100);
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
}

/* The flag is no atomic variable: that it was set shows only in that somebody else has had the lock. */
static void sleeps(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sets, 0);
    poll(&done);
    pthread_join(thread, 0);
}

static void gives_up(void) {
    pthread_t thread;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    pthread_create(&thread, 0, sets, 0);
    pthread_mutex_lock(&mutex);
    while (!done) {
        pthread_cond_timedwait(&condition, &mutex, &limit);
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
}

static void *polls(void *unused) {
    poll(&never);
    return unused;
}

/* Each takes the lock now and then, and changes nothing. */
static void both(void) {
    pthread_t thread;
    pthread_create(&thread, 0, polls, 0);
    poll(&never);
    pthread_join(thread, 0);
}

static atomic_int lock;

/* What is expected is on the stack, where the exchange that fails puts what it has found. */
static void *takes(void *unused) {
    int free = 0;
    while (!atomic_compare_exchange_strong(&lock, &free, 1)) {
        free = 0;
    }
#ifndef BUG
    atomic_store(&lock, 0);
#endif
    return unused;
}

static void exchange(void) {
    pthread_t thread;
    pthread_create(&thread, 0, takes, 0);
    takes(0);
    pthread_join(thread, 0);
}

static atomic_int waits;
static _Atomic(atomic_int *) next;

static void *passes(void *unused) {
    atomic_int *other;
    unpick_await((other = atomic_load_explicit(&next, memory_order_acquire)));
#ifndef BUG
    atomic_store_explicit(other, 0, memory_order_relaxed);
#endif
    return unused;
}

/* What the thread has written before it waits is no part of the loop. */
static void hint(void) {
    pthread_t thread;
    pthread_create(&thread, 0, passes, 0);
    atomic_store_explicit(&waits, 1, memory_order_relaxed);
    atomic_store_explicit(&next, &waits, memory_order_release);
    unpick_await(!atomic_load_explicit(&waits, memory_order_relaxed));
    pthread_join(thread, 0);
}

CASES({"sleeps", sleeps}, {"gives_up", gives_up}, {"both", both}, {"exchange", exchange}, {"hint", hint})
