// bug: failed assertion
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static atomic_int x;
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(int count, char **arguments) {
    pthread_t thread;
    assert(count == 1 && arguments[0][0] != '?');
    arguments[0][0] = '?';
    assert(!getenv("NATIVE_TEST_OWN"));
    setenv("NATIVE_TEST_OWN", "1", 1);
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&x);
    pthread_join(thread, 0);
#ifdef BUG
    assert(seen);
#endif
    return 0;
}
