// violated: failed assertion
// Each round takes a semaphore down and brings it up again; another thread tries it meanwhile.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static sem_t semaphore;
static atomic_int ready;
__attribute__((constructor)) static void begin(void) { sem_init(&semaphore, 0, 1); }
static void *act(void *unused) {
    int failed = sem_trywait(&semaphore);
    assert(!failed);
    sem_post(&semaphore);
    ready = 1;
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
