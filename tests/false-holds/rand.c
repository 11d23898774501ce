// violated: failed assertion
// A loop draws random numbers, and fails at the third.
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
    int first = rand(), second = rand(), third = rand();
    assert(third != first && third != second);
    srand(1);
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        assert(rand() != third);
    }
    pthread_join(thread, 0);
    return 0;
}
