// bug pthread_exit: data race
// fixed pthread_exit: 1 executions
// bug thrd_exit: data race
// fixed thrd_exit: 1 executions
// bug handlers: failed assertion
// fixed handlers: 1 executions
// bug main_exit: data race
// fixed main_exit: 1 executions
// bug codes: failed assertion
// fixed codes: 1 executions
// bug detached: use after free
// fixed detached: 3 executions
// bug thrd_detach: failed assertion
// fixed thrd_detach: 2 executions

// How threads end, and what those who wait for them get.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <threads.h>
#include "cases.h"

static int data;

static void leave(void) { pthread_exit(&data); }

static void *exits(void *unused) {
    data = 1;
    leave();
    return unused;
}

/* Whoever has waited for the thread is ordered after all that it did. */
static void by_pthread_exit(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, exits, 0);
#ifdef BUG
    data++;
#endif
    assert(pthread_join(thread, &result) == 0);
    assert(result == &data && data == 1);
}

static int exits_c11(void *unused) {
    (void)unused;
    data = 1;
    thrd_exit(-7);
}

static void by_thrd_exit(void) {
    thrd_t thread;
    int result;
    assert(thrd_create(&thread, exits_c11, 0) == thrd_success);
#ifdef BUG
    data++;
#endif
    assert(thrd_join(thread, &result) == thrd_success);
    assert(result == -7 && data == 1);
}

static void handled(void *number) { data = 10 * data + *(int *)number; }

static void exits_deep(void) {
    int number = 3;
    pthread_cleanup_push(handled, &number);
    pthread_cleanup_push(handled, &number);
    /* This one is not left by the end of the thread. */
    pthread_cleanup_pop(0);
    leave();
    pthread_cleanup_pop(0);
}

static void *exits_with_handlers(void *unused) {
    static int one = 1, two = 2;
    pthread_cleanup_push(handled, &one);
    pthread_cleanup_push(handled, &two);
    pthread_cleanup_push(handled, &two);
    pthread_cleanup_pop(1);
    exits_deep();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return unused;
}

/* Handlers run from the innermost out, before the thread has ended. */
static void handlers(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, exits_with_handlers, 0);
    pthread_join(thread, &result);
#ifdef BUG
    assert(data == 2);
#else
    assert(data == 2321 && result == &data);
#endif
}

static pthread_t main_thread;

static void *outlives(void *unused) {
    assert(!pthread_equal(pthread_self(), main_thread));
#ifdef BUG
    data++;
#endif
    return unused;
}

/* The process goes on when the main thread ends itself. */
static void by_main_exit(void) {
    pthread_t thread;
    main_thread = pthread_self();
    pthread_create(&thread, 0, outlives, 0);
    data++;
    pthread_exit(0);
}

/* The header has it under another name. */
int old_yield(void) __asm__("pthread_yield");

static void *yields(void *unused) {
    sched_yield();
    thrd_yield();
    old_yield();
    return unused;
}

static void codes(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    assert(pthread_join(pthread_self(), 0) == EDEADLK);
    pthread_create(&thread, 0, yields, 0);
    assert(pthread_detach(thread) == 0);
    assert(pthread_detach(thread) == EINVAL);
    assert(pthread_join(thread, 0) == EINVAL);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_create(&thread, &attributes, yields, 0);
    pthread_attr_destroy(&attributes);
#ifdef BUG
    assert(pthread_join(thread, 0) == 0);
#else
    assert(pthread_join(thread, 0) == EINVAL);
#endif
}

static atomic_int ended;

static void *uses(void *block) {
    *(int *)block = 1;
    atomic_store(&ended, 1);
    return 0;
}

/* Nobody waits for the end of a thread that is detached: then nothing orders what comes after. */
static void detached(void) {
    pthread_t thread;
    static int *block;
    block = malloc(sizeof *block);
    pthread_create(&thread, 0, uses, block);
    pthread_detach(thread);
#ifdef BUG
    free(block);
#else
    if (atomic_load(&ended))
        free(block);
    else if (atomic_load(&ended))
        free(block);
#endif
}

static int sets(void *unused) {
    (void)unused;
    atomic_store(&ended, 1);
    return 0;
}

static void detached_c11(void) {
    thrd_t thread;
    assert(thrd_create(&thread, sets, 0) == thrd_success);
    assert(thrd_detach(thread) == thrd_success);
    int seen = atomic_load(&ended);
#ifdef BUG
    assert(seen);
#endif
    (void)seen;
}

CASES({"pthread_exit", by_pthread_exit}, {"thrd_exit", by_thrd_exit}, {"handlers", handlers}, {"main_exit", by_main_exit},
      {"codes", codes}, {"detached", detached}, {"thrd_detach", detached_c11})
