// bug: data race
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made;
static void make(void) { made++; }
static void *use(void *unused) {
#ifdef BUG
    if (!made)
        make();
#else
    pthread_once(&once, make);
#endif
    assert(made == 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
    use(0);
    pthread_join(thread, 0);
    return 0;
}
