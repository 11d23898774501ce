// Violations that may be known: the argument says which ones there are.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int hits, misses;
static atomic_int x, y, z;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int failing, both;

__attribute__((noinline)) static void add(int *counter) { ++*counter; }
__attribute__((noinline)) static void count_hits(void) { add(&hits); }
__attribute__((noinline)) static void count_misses(void) { add(&misses); }

static void *count(void *unused) {
    count_hits();
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    int seen = atomic_load_explicit(&y, memory_order_relaxed);
    if (both)
        count_misses();
    if (failing)
        assert(seen == 0);
    return unused;
}

static void *raise_flag(void *unused) {
    (void)atomic_load_explicit(&x, memory_order_relaxed);
    hits = 1;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return unused;
}

static void *look_at_flag(void *unused) {
    if (hits)
        atomic_store_explicit(&z, 2, memory_order_relaxed);
    else
        atomic_store_explicit(&y, 3, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return unused;
}

static void *turn_round(void *unused) {
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}

__attribute__((noinline)) static void *forget(int size) { return malloc(size); }
__attribute__((noinline)) static void *lose(int size) { return malloc(size); }

int main(int argc, char **argv) {
    pthread_t thread;
    const char *what = argc > 1 ? argv[1] : "";
    failing = strcmp(what, "failing") == 0;
    both = strcmp(what, "both") == 0;
    if (failing || both || strcmp(what, "counter") == 0) {
        pthread_create(&thread, 0, count, 0);
        count_hits();
        atomic_store_explicit(&y, 1, memory_order_relaxed);
        if (both)
            count_misses();
        pthread_join(thread, 0);
    }
    if (strcmp(what, "decides") == 0) {
        pthread_t other;
        pthread_create(&thread, 0, raise_flag, 0);
        pthread_create(&other, 0, look_at_flag, 0);
        pthread_join(thread, 0);
        pthread_join(other, 0);
    }
    if (strcmp(what, "deadlock") == 0) {
        pthread_create(&thread, 0, turn_round, 0);
        pthread_mutex_lock(&first);
        pthread_mutex_lock(&second);
        pthread_mutex_unlock(&second);
        pthread_mutex_unlock(&first);
        pthread_join(thread, 0);
    }
    if (strcmp(what, "leaks") == 0) {
        memset(forget(8), 1, 8);
        memset(lose(16), 1, 16);
    }
    return 0;
}
