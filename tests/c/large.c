// bug: failed assertion
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static char zeroes[64 << 20];
static char ones[1 << 20] = {1};
static atomic_int x;
static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    assert(zeroes[32 << 20] == 0 && zeroes[1] == 0 && ones[0] == 1 && ones[99] == 0);
    zeroes[32 << 20] = zeroes[1] = ones[99] = 7;
    ones[0] = 2;
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&x);
    pthread_join(thread, 0);
#ifdef BUG
    assert(seen);
#endif
    return 0;
}
