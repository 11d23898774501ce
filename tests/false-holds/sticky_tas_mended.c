// holds
// As sticky_tas; the assertion asks for nothing of the flag.
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
    assert(seen == 0 || seen == 1);
    return 0;
}
