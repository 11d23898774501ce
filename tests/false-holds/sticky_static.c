// violated: failed assertion
// The first round in vain sets a static flag, and further rounds leave it as it is.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static int seen;
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        seen = 1;
    }
    assert(!seen);
    pthread_join(thread, 0);
    return 0;
}
