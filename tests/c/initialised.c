// bug: failed assertion
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static struct {
    atomic_int number;
} object;
static void *set(void *unused) {
    atomic_store(&object.number, 5);
    return unused;
}
int main(void) {
    pthread_t thread;
    atomic_store(&object.number, 1);
    atomic_init(&object.number, 3);
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&object.number);
    pthread_join(thread, 0);
#ifdef BUG
    assert(seen == 1 || seen == 5);
#else
    assert(seen == 3 || seen == 5);
#endif
    atomic_init(&object.number, 9);
    assert(atomic_load(&object.number) == 9);
    return 0;
}
