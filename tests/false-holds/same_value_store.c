// holds
// Each round stores the value that is there already.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int there, done;
static void *act(void *unused) {
    while (!atomic_load_explicit(&there, memory_order_acquire))
        sched_yield();
    atomic_store_explicit(&done, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    while (!atomic_load_explicit(&done, memory_order_acquire)) {
        atomic_store_explicit(&there, 1, memory_order_release);
        sched_yield();
    }
    pthread_join(thread, 0);
    return 0;
}
