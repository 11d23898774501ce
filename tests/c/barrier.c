// bug: failed assertion
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t barrier;
static int left, right;
static void *other(void *unused) {
    left = 1;
    int code = pthread_barrier_wait(&barrier);
    assert(code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD);
    assert(right == 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, other, 0);
#ifdef BUG
    pthread_barrier_wait(&barrier);
    right = 1;
#else
    right = 1;
    pthread_barrier_wait(&barrier);
#endif
    assert(left == 1);
    pthread_join(thread, 0);
    pthread_barrier_destroy(&barrier);
    return 0;
}
