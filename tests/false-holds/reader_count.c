// holds
// Each round counts a reader in and out again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int readers, ready;
static void *act(void *unused) {
    assert(atomic_load_explicit(&readers, memory_order_acquire) < 2);
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    for (int is_ready = 0; !is_ready;) {
        atomic_fetch_add_explicit(&readers, 1, memory_order_acq_rel);
        is_ready = atomic_load_explicit(&ready, memory_order_acquire);
        atomic_fetch_sub_explicit(&readers, 1, memory_order_acq_rel);
    }
    pthread_join(thread, 0);
    return 0;
}
