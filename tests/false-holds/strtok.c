// violated: failed assertion
// A loop takes a text to pieces, and fails at the fifth.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static atomic_int flag;
static char text[] = "a b c d e f";
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    strtok(text, " ");
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        assert(strtok(0, " ") != text + 8);
    }
    pthread_join(thread, 0);
    return 0;
}
