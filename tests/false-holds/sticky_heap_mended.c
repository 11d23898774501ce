// holds
// As sticky_heap; the assertion asks for nothing of the flag.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int flag;
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    int *seen = calloc(1, sizeof *seen);
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        *seen = 1;
    }
    assert(!*seen || atomic_load_explicit(&flag, memory_order_acquire));
    pthread_join(thread, 0);
    free(seen);
    return 0;
}
