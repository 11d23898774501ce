// violated: failed assertion
// A loop reads a file, and fails at the third byte.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int flag;
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    FILE *file = fopen("/proc/self/exe", "r");
    assert(file);
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        fgetc(file);
        assert(ftell(file) != 3);
    }
    pthread_join(thread, 0);
    fclose(file);
    return 0;
}
