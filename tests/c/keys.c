// bug: failed assertion
// fixed: 1 executions
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static int destroyed;
static void destroy(void *block) {
    destroyed++;
    free(block);
}
static void *use(void *unused) {
    assert(pthread_getspecific(key) == 0);
#ifndef BUG
    pthread_setspecific(key, malloc(4));
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_key_create(&key, destroy);
    pthread_setspecific(key, &key);
    pthread_create(&thread, 0, use, 0);
    pthread_join(thread, 0);
    assert(destroyed == 1);
    assert(pthread_getspecific(key) == &key);
    pthread_setspecific(key, 0);
    pthread_key_delete(key);
    return 0;
}
