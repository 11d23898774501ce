// holds
// As rand; each round starts the sequence anew.
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
    srand(1);
    int first = rand();
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        srand(1);
        assert(rand() == first);
    }
    pthread_join(thread, 0);
    return 0;
}
