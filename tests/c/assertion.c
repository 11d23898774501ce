// bug: failed assertion
// fixed: 3 executions
// says: assertion `x == 2` failed
// says: before the assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int x;
static void *increment(void *unused) {
#ifdef BUG
    atomic_store(&x, atomic_load(&x) + 1);
#else
    atomic_fetch_add(&x, 1);
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, increment, 0);
    increment(0);
    int seen = atomic_load(&x);
    pthread_join(thread, 0);
    printf("before the assertion: %d\n", seen);
    assert(x == 2);
    return 0;
}
