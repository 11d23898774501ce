// bug: use after free
// fixed: 1 executions
#include <pthread.h>
#include <stdlib.h>
static void *use(void *block) {
    *(int *)block = 1;
    return 0;
}
int main(void) {
    pthread_t thread;
    int *block = malloc(sizeof *block);
    pthread_create(&thread, 0, use, block);
#ifdef BUG
    free(block);
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    free(block);
#endif
    return 0;
}
