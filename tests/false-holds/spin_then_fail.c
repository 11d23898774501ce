// violated: failed assertion
// A thread spins, and fails in a late round.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *act(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    for (int round = 0; round < 200; round++) {
        if (atomic_load_explicit(&flag, memory_order_acquire))
            break;
        assert(round != 150);
    }
    pthread_join(thread, 0);
    return 0;
}
