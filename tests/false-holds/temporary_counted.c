// violated: failed assertion
// Each round has a block of its own, and counts those that lie elsewhere than the last one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int flag;
static char *last;
static int others;
static void *act(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        char *block = malloc(8);
        block[0] = 1;
        if (block != last) {
            last = block;
            others++;
        }
        free(block);
    }
    pthread_join(thread, 0);
    assert(others < 3);
    return 0;
}
