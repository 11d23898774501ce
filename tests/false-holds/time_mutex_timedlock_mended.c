// holds
// pthread_mutex_timedlock until it succeeds, or until five seconds are over by the clock.
#include <assert.h>
#include <pthread.h>
#include <time.h>
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;
static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    long long start = now();
    int taken = 0;
    pthread_create(&thread, 0, add, 0);
    while (!taken && now() - start < 5000) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 2;
        taken = pthread_mutex_timedlock(&lock, &until) == 0;
    }
    if (taken) {
        value++;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, 0);
    return 0;
}
