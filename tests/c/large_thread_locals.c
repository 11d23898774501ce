// fixed: 1 executions

// Thread-local storage that is larger than the stack of a thread.
#include <assert.h>
#include <pthread.h>
static __thread char table[1 << 22];
static void *fills(void *unused) {
    volatile char deep[1 << 16];
    for (int i = 0; i < 1 << 16; i += 4096)
        deep[i] = 1;
    assert(table[1] == 0 && table[(1 << 22) - 1] == 0);
    table[1] = deep[0];
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], 0, fills, 0);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], 0);
    assert(table[1] == 0);
    return 0;
}
