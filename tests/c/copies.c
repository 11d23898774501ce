// bug: data race
// flags: -fno-builtin
// fixed: 2 executions
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static char shared[64], copy[64];
static atomic_int ready;
static void *writer(void *unused) {
    memset(shared, 'x', 40);
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
#ifdef BUG
    memcpy(copy, shared + 32, 16);
#else
    if (atomic_load_explicit(&ready, memory_order_acquire))
        memcpy(copy, shared + 32, 16);
    else
        memcpy(copy, shared + 40, 16);
#endif
    pthread_join(thread, 0);
    return copy[63];
}
