// holds
// sem_timedwait in a loop of three attempts.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static sem_t semaphore;
static void *act(void *unused) {
    sem_post(&semaphore);
    return unused;
}
int main(void) {
    pthread_t thread;
    int taken = 0;
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, 0, act, 0);
    for (int attempt = 0; attempt < 3 && !taken; attempt++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        taken = sem_timedwait(&semaphore, &until) == 0;
    }
    assert(taken || errno == ETIMEDOUT);
    pthread_join(thread, 0);
    return 0;
}
