// bug: data race
// fixed: 2 executions, 2 blocked
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t permits;
static int data;
static void *use(void *unused) {
    sem_wait(&permits);
    data++;
    sem_post(&permits);
    return unused;
}
int main(void) {
    pthread_t thread;
#ifdef BUG
    sem_init(&permits, 0, 2);
#else
    sem_init(&permits, 0, 1);
#endif
    pthread_create(&thread, 0, use, 0);
    use(0);
    pthread_join(thread, 0);
    int left;
    sem_getvalue(&permits, &left);
    sem_trywait(&permits);
    if (left == 1 && (sem_trywait(&permits) != -1 || errno != EAGAIN))
        return 1;
    sem_destroy(&permits);
    return 0;
}
