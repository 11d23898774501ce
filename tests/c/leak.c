// bug: leak
// fixed: 2 executions
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(void *) slot;
static void *put(void *unused) {
    void *block = malloc(8);
#ifdef BUG
    atomic_exchange(&slot, block);
#else
    free(atomic_exchange(&slot, block));
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, put, 0);
    put(0);
    pthread_join(thread, 0);
    return 0;
}
