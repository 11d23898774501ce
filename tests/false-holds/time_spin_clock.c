// violated: failed assertion
// A thread spins for a second by the clock, and is then taken to have seen the flag.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}
static atomic_int flag;
static void *act(void *unused) {
    atomic_store(&flag, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    long long start = now();
    int late = 0;
    while (!atomic_load(&flag) && !late)
        late = now() - start > 1000;
    assert(!late);
    pthread_join(thread, 0);
    return 0;
}
