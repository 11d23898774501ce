// bug ignored: data race
// fixed ignored: 1 executions
// bug retired: leak
// fixed retired: 2 executions
// bug sections: failed assertion
// fixed sections: 2 executions
// bug forbid: failed assertion
// fixed forbid: 2 executions

// What a program tells the checker with `unpick.h`.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unpick.h>
#include "cases.h"

static int counter, parts[4];
static _Atomic(int *) head;
static atomic_int x;

static void *counts(void *unused) {
    counter++;
    parts[1]++;
    return unused;
}

/* A counter that need not be exact; the bug is in a part of it that is looked at again. */
static void ignored(void) {
    pthread_t thread;
    unpick_ignore(&counter, sizeof counter);
    unpick_ignore(parts, sizeof parts);
    unpick_watch(parts + 2, sizeof *parts);
#ifdef BUG
    unpick_watch(parts + 1, sizeof *parts);
#endif
    pthread_create(&thread, 0, counts, 0);
    counts(0);
    parts[2] = 1;
    pthread_join(thread, 0);
    unpick_watch(&counter, sizeof counter);
    assert(counter == 2);
}

static void *reads(void *unused) {
    int *block = atomic_load(&head);
    return block && *block ? unused : 0;
}

/* A block that is given up while others may still read it. */
static void retired(void) {
    pthread_t thread;
    int *block = malloc(sizeof *block);
    *block = 1;
    atomic_store(&head, block);
    pthread_create(&thread, 0, reads, 0);
    atomic_store(&head, 0);
#ifndef BUG
    __unpick_retire(block);
#endif
    pthread_join(thread, 0);
}

static void *adds(void *unused) {
#ifndef BUG
    unpick_atomic_begin();
#endif
    atomic_store(&x, atomic_load(&x) + 1);
#ifndef BUG
    unpick_atomic_end();
#endif
    return unused;
}

static void sections(void) {
    pthread_t thread;
    pthread_create(&thread, 0, adds, 0);
    adds(0);
    pthread_join(thread, 0);
    unpick_require(atomic_load(&x) == 2);
}

static void *sets(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void forbid(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sets, 0);
    int seen = atomic_load(&x);
#ifdef BUG
    unpick_forbid(seen == 1);
#else
    unpick_forbid(seen == 2);
#endif
    pthread_join(thread, 0);
}

CASES({"ignored", ignored}, {"retired", retired}, {"sections", sections}, {"forbid", forbid})
