// bug: deadlock
// fixed: 2 executions
#include <assert.h>
#include <threads.h>
static mtx_t mutex;
static cnd_t condition;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int ready, made, destroyed;
static _Thread_local int own;
static void make(void) { made++; }
static void destroy(void *value) { destroyed += *(int *)value; }
static int work(void *number) {
    call_once(&once, make);
    own++;
    tss_set(key, &own);
    mtx_lock(&mutex);
    ready = 1;
#ifndef BUG
    cnd_signal(&condition);
#endif
    mtx_unlock(&mutex);
    return *(int *)number;
}
int main(void) {
    thrd_t thread;
    int number = 5, result;
    assert(mtx_init(&mutex, mtx_plain) == thrd_success);
    assert(cnd_init(&condition) == thrd_success);
    assert(tss_create(&key, destroy) == thrd_success);
    assert(thrd_create(&thread, work, &number) == thrd_success);
    mtx_lock(&mutex);
    while (!ready)
        cnd_wait(&condition, &mutex);
    mtx_unlock(&mutex);
    assert(thrd_join(thread, &result) == thrd_success);
    call_once(&once, make);
    assert(result == 5 && made == 1 && destroyed == 1 && own == 0);
    mtx_destroy(&mutex);
    cnd_destroy(&condition);
    return 0;
}
