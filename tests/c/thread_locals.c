// bug keys: failed assertion
// fixed keys: 1 executions
// bug tss: failed assertion
// fixed tss: 1 executions
// bug destructors: data race
// fixed destructors: 1 executions

// What threads keep under keys.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include "cases.h"

static pthread_key_t key, other;
static int values[3], destroyed;

static void *empty(void *unused) {
    assert(pthread_getspecific(key) == 0);
    return unused;
}

static void keys(void) {
    pthread_t thread;
    assert(pthread_key_create(&key, 0) == 0 && pthread_key_create(&other, 0) == 0 && key != other);
    assert(pthread_getspecific(key) == 0);
    assert(pthread_setspecific(key, values) == 0 && pthread_setspecific(other, values + 1) == 0);
    assert(pthread_getspecific(key) == values && pthread_getspecific(other) == values + 1);
    pthread_create(&thread, 0, empty, 0);
    pthread_join(thread, 0);
    assert(pthread_key_delete(other) == 0 && pthread_key_delete(other) == EINVAL);
    assert(pthread_setspecific(other, values) == EINVAL && pthread_getspecific(other) == 0);
    assert(pthread_setspecific(1000000000, values) == EINVAL);
    assert(pthread_key_create(&other, 0) == 0);
#ifdef BUG
    assert(pthread_getspecific(other) == values + 1);
#else
    assert(pthread_getspecific(other) == 0);
#endif
}

static tss_t c11_key;

static void destroy(void *value) { destroyed += *(int *)value; }

static int sets(void *unused) {
    (void)unused;
    assert(tss_get(c11_key) == 0);
    values[0] = 5;
    assert(tss_set(c11_key, values) == thrd_success);
    assert(tss_get(c11_key) == values);
    return 0;
}

static void tss(void) {
    thrd_t thread;
    assert(tss_create(&c11_key, destroy) == thrd_success);
    thrd_create(&thread, sets, 0);
    thrd_join(thread, 0);
#ifdef BUG
    assert(destroyed == 0);
#else
    assert(destroyed == 5);
#endif
    tss_delete(c11_key);
    assert(tss_set(c11_key, values) == thrd_error);
}

static int again;

/* A destructor that keeps a value is called again, up to a limit. */
static void destroy_again(void *value) {
    destroyed++;
    if (++again < 3)
        pthread_setspecific(key, value);
}

static void *keeps(void *unused) {
    pthread_setspecific(key, values);
    return unused;
}

static void destructors(void) {
    pthread_t thread;
    pthread_key_create(&key, destroy_again);
    pthread_create(&thread, 0, keeps, 0);
#ifdef BUG
    destroyed++;
#endif
    pthread_join(thread, 0);
    assert(destroyed == 3);
}

CASES({"keys", keys}, {"tss", tss}, {"destructors", destructors})
