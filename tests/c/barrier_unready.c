// bug never: crash
// says never: was not initialised
// fixed never: 1 executions
// bug destroyed: crash
// fixed destroyed: 2 executions

// A barrier that is not one yet, or no more.
#include <pthread.h>
#include <stdatomic.h>
#include "cases.h"

static pthread_barrier_t barrier;
static atomic_int ready;

static void never(void) {
#ifndef BUG
    pthread_barrier_init(&barrier, 0, 1);
#endif
    pthread_barrier_wait(&barrier);
}

static void *waits(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire)) {
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void destroyed(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 1);
    pthread_create(&thread, 0, waits, 0);
#ifdef BUG
    pthread_barrier_destroy(&barrier);
#endif
    atomic_store_explicit(&ready, 1, memory_order_release);
    pthread_join(thread, 0);
#ifndef BUG
    pthread_barrier_destroy(&barrier);
#endif
}

CASES({"never", never}, {"destroyed", destroyed})
