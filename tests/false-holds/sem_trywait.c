// holds
// Each round tries a semaphore, and looks at the error number.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t semaphore;
__attribute__((constructor)) static void begin(void) { sem_init(&semaphore, 0, 0); }
static void *act(void *unused) {
    sem_post(&semaphore);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    while (sem_trywait(&semaphore))
        assert(errno == EAGAIN);
    pthread_join(thread, 0);
    return 0;
}
