// holds
// Each round has a block of its own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static atomic_int flag;
static void *act(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        char *block = malloc(24);
        memset(block, 1, 24);
        free(block);
    }
    pthread_join(thread, 0);
    return 0;
}
