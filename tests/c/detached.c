// bug: data race
// fixed: 2 executions
#include <pthread.h>
#include <semaphore.h>
static sem_t done;
static volatile int data;
static void *work(void *unused) {
    data = 1;
    sem_post(&done);
    return unused;
}
int main(void) {
    pthread_t thread;
    sem_init(&done, 0, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
#ifndef BUG
    if (sem_trywait(&done) == 0)
#endif
        data = 2;
    return 0;
}
