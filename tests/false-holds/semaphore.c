// holds
// Each round takes a semaphore down, looks, and brings it up again.
#include <pthread.h>
#include <semaphore.h>
static sem_t semaphore;
static int ready;
__attribute__((constructor)) static void begin(void) { sem_init(&semaphore, 0, 1); }
static void *act(void *unused) {
    sem_wait(&semaphore);
    ready = 1;
    sem_post(&semaphore);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    for (int is_ready = 0; !is_ready;) {
        sem_wait(&semaphore);
        is_ready = ready;
        sem_post(&semaphore);
    }
    pthread_join(thread, 0);
    return 0;
}
