// bug plain: use after free
// fixed plain: 2 executions
// bug relaxed: use after free
// fixed relaxed: holds

// Small blocks that are freed when another thread has used them already, and nothing orders the two.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "cases.h"

static _Atomic(int *) shared;

static void *writes(void *unused) {
    int *block = atomic_load_explicit(&shared, memory_order_acquire);
    if (block) {
        *block = 1;
    }
    return unused;
}

static void plain(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writes, 0);
    int *block = malloc(sizeof *block);
    atomic_store(&shared, block);
#ifdef BUG
    free(block);
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    free(block);
#endif
}

#ifdef BUG
#define WAIT memory_order_relaxed
#else
#define WAIT memory_order_acquire
#endif

static void *ends(void *flag) {
    atomic_store_explicit((atomic_int *)flag, 1, memory_order_release);
    return 0;
}

static void relaxed(void) {
    pthread_t thread;
    atomic_int *flag = malloc(sizeof *flag);
    atomic_init(flag, 0);
    pthread_create(&thread, 0, ends, flag);
    while (!atomic_load_explicit(flag, WAIT)) {
        sched_yield();
    }
    free(flag);
    pthread_join(thread, 0);
}

CASES({"plain", plain}, {"relaxed", relaxed})
