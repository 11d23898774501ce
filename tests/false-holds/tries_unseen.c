// violated: failed assertion
// A loop counts its rounds in an object that was built without the wrapper, and fails in the fourth.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
int count_up_to(int most);
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        assert(count_up_to(9) != 4);
    }
    pthread_join(thread, 0);
    return 0;
}
