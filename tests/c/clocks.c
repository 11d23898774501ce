// bug nanosleep: data race
// fixed nanosleep: 1 executions
// bug usleep: data race
// fixed usleep: 1 executions
// bug sleep: data race
// fixed sleep: 1 executions
// bug clock_nanosleep: data race
// fixed clock_nanosleep: 1 executions
// bug thrd_sleep: data race
// fixed thrd_sleep: 1 executions
// bug clocks: failed assertion
// fixed clocks: 1 executions
// bug threads: failed assertion
// fixed threads: 1 executions
// bug invalid: failed assertion
// fixed invalid: 1 executions

// Time is made up: it goes on with each look, and by the whole time with each sleep. That a thread sleeps orders nothing.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include "cases.h"

static int data;

static long long now(void) {
    struct timespec time;
    assert(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static const struct timespec second = {3, 500};

static void by_nanosleep(void) { assert(nanosleep(&second, 0) == 0); }
static void by_usleep(void) { assert(usleep(3000001) == 0); }
static void by_sleep(void) { assert(sleep(4) == 0); }
static void by_thrd_sleep(void) { assert(thrd_sleep(&second, 0) == 0); }
static void by_clock_nanosleep(void) {
    struct timespec until;
    assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &second, 0) == 0);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 2;
    assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == 0);
    assert(now() >= until.tv_sec * 1000000000LL);
}

static void *writer(void *unused) {
    data = 1;
    return unused;
}

/* Sleeps for three seconds at least, by the clock, while another thread does its work. */
static void sleeps(void (*pause)(void)) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    long long start = now();
    pause();
    assert(now() - start >= 3000000000LL);
#ifdef BUG
    (void)*(volatile int *)&data;
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    assert(data == 1);
#endif
}

static void clocks(void) {
    struct timespec time_now;
    struct timeval day;
    time_t seconds, same;
    clock_gettime(CLOCK_REALTIME, &time_now);
    gettimeofday(&day, 0);
    seconds = time(&same);
    assert(seconds == same && seconds >= day.tv_sec && day.tv_sec >= time_now.tv_sec);
    assert(seconds - time_now.tv_sec <= 1 && day.tv_usec >= 0 && day.tv_usec < 1000000);
    assert(syscall(SYS_clock_gettime, CLOCK_REALTIME, &time_now) == 0);
    assert(time_now.tv_sec - seconds <= 1 && time_now.tv_sec >= seconds - 1);
    long long before = now();
#ifdef BUG
    assert(now() == before);
#else
    assert(now() > before);
#endif
}

static long long began, ended;

static void *sleeper(void *unused) {
    began = now();
    sleep(100);
    ended = now();
    return unused;
}

/* The clock of a thread begins where that of its parent stands, and whoever waits for it is not earlier than its end. */
static void threads(void) {
    pthread_t thread;
    long long start = now();
    pthread_create(&thread, 0, sleeper, 0);
    pthread_join(thread, 0);
    assert(start < began);
#ifdef BUG
    assert(now() < ended);
#else
    assert(now() > ended);
#endif
}

/* Times that are none. */
static void invalid(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    static sem_t semaphore;
    const struct timespec wrong = {1, 1000000000};
    sem_init(&semaphore, 0, 0);
    assert(sem_timedwait(&semaphore, &wrong) == -1 && errno == EINVAL);
    pthread_mutex_lock(&mutex);
    assert(pthread_cond_timedwait(&condition, &mutex, &wrong) == EINVAL);
    assert(pthread_mutex_timedlock(&mutex, &wrong) == EINVAL);
    pthread_rwlock_rdlock(&lock);
#ifdef BUG
    assert(pthread_rwlock_timedwrlock(&lock, &wrong) == ETIMEDOUT);
#else
    assert(pthread_rwlock_timedwrlock(&lock, &wrong) == EINVAL);
#endif
}

static void case_nanosleep(void) { sleeps(by_nanosleep); }
static void case_usleep(void) { sleeps(by_usleep); }
static void case_sleep(void) { sleeps(by_sleep); }
static void case_clock_nanosleep(void) { sleeps(by_clock_nanosleep); }
static void case_thrd_sleep(void) { sleeps(by_thrd_sleep); }

CASES({"nanosleep", case_nanosleep}, {"usleep", case_usleep}, {"sleep", case_sleep}, {"clock_nanosleep", case_clock_nanosleep}, {"thrd_sleep", case_thrd_sleep}, {"clocks", clocks},
      {"threads", threads}, {"invalid", invalid})
