// holds
// As rand_r; each round starts the sequence anew.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int flag;
static unsigned state = 1;
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    int first = rand_r(&state);
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        state = 1;
        assert(rand_r(&state) == first);
    }
    pthread_join(thread, 0);
    return 0;
}
