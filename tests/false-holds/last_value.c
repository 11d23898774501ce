// violated: failed assertion
// A round keeps the value that it has read. A second round with the same value changes nothing, and the first has.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int number;
static int last = 9;
static void *set(void *unused) {
    atomic_store_explicit(&number, 1, memory_order_release);
    atomic_store_explicit(&number, 2, memory_order_release);
    return unused;
}
__attribute__((noinline)) static int is_there(void) {
    int now = atomic_load_explicit(&number, memory_order_acquire);
    if (now != 2)
        last = now;
    return now == 2;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!is_there())
        ;
    assert(last != 1);
    pthread_join(thread, 0);
    return 0;
}
