// holds
// A loop that yields asks for the time in seconds.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int flag;
static void *act(void *unused) {
    atomic_store(&flag, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, act, 0);
    time_t until = time(0) + 5;
    while (!atomic_load(&flag)) {
        if (time(0) > until)
            break;
        sched_yield();
    }
    
    pthread_join(thread, 0);
    assert(atomic_load(&flag));
    return 0;
}
