// bug: double free
// fixed: 2 executions
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int owners = 2;
static void *block;
static void *drop(void *unused) {
#ifdef BUG
    if (atomic_load(&owners) > 0)
        free(block);
#else
    if (atomic_fetch_sub(&owners, 1) == 1)
        free(block);
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    block = malloc(1);
    pthread_create(&thread, 0, drop, 0);
    drop(0);
    pthread_join(thread, 0);
    return 0;
}
