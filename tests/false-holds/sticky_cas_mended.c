// holds
// As sticky_cas; the assertion asks for nothing of the flag.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lock;
static int seen;
static void *use(void *unused) {
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &free, 1, memory_order_acquire, memory_order_relaxed))
        free = 0;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &free, 1, memory_order_acquire, memory_order_relaxed)) {
        free = 0;
        seen = 1;
    }
    atomic_store_explicit(&lock, 0, memory_order_release);
    pthread_join(thread, 0);
    assert(seen == 0 || seen == 1);
    return 0;
}
