// holds
// Who waits for longer than 300 milliseconds by gettimeofday gives up.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>
static atomic_flag taken = ATOMIC_FLAG_INIT;
static int value;
static void *add(void *unused) {
    struct timeval start, now;
    gettimeofday(&start, 0);
    while (atomic_flag_test_and_set(&taken)) {
        gettimeofday(&now, 0);
        if ((now.tv_sec - start.tv_sec) * 1000000LL + now.tv_usec - start.tv_usec > 300000)
            return unused;
    }
    value++;
    atomic_flag_clear(&taken);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    add(0);
    pthread_join(thread, 0);
    return value > 2;
}
