// violated: use after free
// A thread frees a lock that it has taken, while another one may try to take it after another lock, and gives that back if it fails.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *_Atomic freed;

static void *tries(void *unused) {
    for (int round = 0; round < 2; round++) {
        pthread_mutex_lock(&first);
        pthread_mutex_t *lock = freed;
        int done = !lock || pthread_mutex_trylock(lock) == 0;
        pthread_mutex_unlock(&first);
        if (done)
            break;
        pthread_mutex_lock(&second);
        pthread_mutex_unlock(&second);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    freed = lock;
    pthread_create(&thread, NULL, tries, NULL);
    pthread_mutex_lock(lock);
    freed = NULL;
    free(lock);
    pthread_join(thread, NULL);
}
