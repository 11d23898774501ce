// violated: failed assertion
// A round writes the value that it has read, but does not release what came with it: who reads this write may miss `d`.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int a, b, c, d;
static void *first(void *unused) {
    atomic_store_explicit(&d, 1, memory_order_relaxed);
    atomic_store_explicit(&a, 1, memory_order_release);
    return unused;
}
static void *act(void *unused) {
    if (atomic_load_explicit(&a, memory_order_acquire) == 1 && !atomic_load_explicit(&d, memory_order_relaxed))
        atomic_store_explicit(&c, 2, memory_order_relaxed);
    atomic_store_explicit(&b, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    pthread_t writes;
    pthread_create(&writes, 0, first, 0);
    while (!atomic_load_explicit(&b, memory_order_acquire))
        if (atomic_load_explicit(&a, memory_order_relaxed) == 1)
            atomic_store_explicit(&a, 1, memory_order_relaxed);
    assert(atomic_load_explicit(&c, memory_order_relaxed) != 2);
    pthread_join(writes, 0);
    pthread_join(thread, 0);
    return 0;
}
