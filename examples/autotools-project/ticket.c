/* A ticket lock, and two threads that count under it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint next, serving;
static int count;

static void lock(void) {
    unsigned own = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != own) {
    }
}

static void unlock(void) {
    unsigned own = atomic_load_explicit(&serving, memory_order_relaxed);
    atomic_store_explicit(&serving, own + 1, memory_order_release);
}

static void *increment(void *unused) {
    lock();
    ++count;
    unlock();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, increment, NULL);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    assert(count == 2);
    return 0;
}
