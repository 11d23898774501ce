// bug unrolled: livelock
// fixed unrolled: 4 executions, 1 blocked
// bug jumps: livelock
// fixed jumps: 2 executions, 1 blocked
// bug exchange: livelock
// fixed exchange: 2 executions, 2 blocked
// bug test_and_test: livelock
// fixed test_and_test: holds
// bug hint: livelock
// fixed hint: 1 executions, 1 blocked
// bug inlined: livelock
// fixed inlined: 1 executions, 1 blocked
// flags: -O2 -funroll-loops

// Loops that wait, as compilers write them: several rounds side by side, each with its own place in the code, or jumps between loops.
// They are recognised by the state of the thread. The reads of a round are different reads, so there are as many executions.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unpick.h>
#include "cases.h"

/* Not static: compilers would see that nobody writes to it, and leave out the reads. */
atomic_int ready, lock;
static int data;

static void *sets(void *unused) {
#ifndef BUG
    data = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
#endif
    return unused;
}

#define LOAD() atomic_load_explicit(&ready, memory_order_acquire)

static void with(void (*wait)(void)) {
    pthread_t thread;
    pthread_create(&thread, 0, sets, 0);
    wait();
    assert(data == 1);
    pthread_join(thread, 0);
}

/* Four rounds in one, as an unrolled loop has them. */
static void unrolled_by_hand(void) {
    for (;;) {
        if (LOAD())
            return;
        if (LOAD())
            return;
        if (LOAD())
            return;
        if (LOAD())
            return;
    }
}

/* Two loops that lead to each other. */
static void jumping(void) {
one:
    if (LOAD())
        return;
    goto two;
two:
    if (LOAD())
        return;
    goto one;
}

static inline int is_ready(void) { return LOAD(); }

static void rolled(void) {
    while (!is_ready()) {
    }
}

/* A loop that counts, and says that it only waits. */
static void hinted(void) {
    for (volatile unsigned rounds = 0; !LOAD(); rounds++)
        unpick_spin();
}

static void *holds(void *unused) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire)) {
    }
    data++;
#ifndef BUG
    atomic_store_explicit(&lock, 0, memory_order_release);
#endif
    return unused;
}

static void *tests_first(void *unused) {
    for (;;) {
        while (atomic_load_explicit(&lock, memory_order_relaxed)) {
        }
        if (!atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            break;
    }
    data++;
#ifndef BUG
    atomic_store_explicit(&lock, 0, memory_order_release);
#endif
    return unused;
}

static void locks(void *(*work)(void *)) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    assert(data == 2);
}

static void unrolled(void) { with(unrolled_by_hand); }
static void jumps(void) { with(jumping); }
static void inlined(void) { with(rolled); }
static void hint(void) { with(hinted); }
static void exchange(void) { locks(holds); }
static void test_and_test(void) { locks(tests_first); }

CASES({"unrolled", unrolled}, {"jumps", jumps}, {"inlined", inlined}, {"hint", hint}, {"exchange", exchange},
      {"test_and_test", test_and_test})
