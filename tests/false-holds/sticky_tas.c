// violated: failed assertion
// Who finds a test-and-set lock taken sets a static flag in the first round, and leaves it as it is in the next.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_flag lock = ATOMIC_FLAG_INIT;
static int seen;
static void *use(void *unused) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        seen = 1;
    atomic_flag_clear_explicit(&lock, memory_order_release);
    pthread_join(thread, 0);
    assert(!seen);
    return 0;
}
