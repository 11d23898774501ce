// holds
// Each round tries a lock, looks, and unlocks.
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void *act(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    for (int is_ready = 0; !is_ready;) {
        if (pthread_mutex_trylock(&lock))
            continue;
        is_ready = ready;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, 0);
    return 0;
}
