// bug: deadlock
// fixed: 2 executions
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t recursive, checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int count;
static void *other(void *unused) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    count++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
#ifndef BUG
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
#endif
    pthread_mutex_init(&recursive, &attributes);
    assert(pthread_mutex_lock(&checking) == 0);
    assert(pthread_mutex_lock(&checking) == EDEADLK);
    assert(pthread_mutex_trylock(&checking) == EBUSY);
    assert(pthread_mutex_destroy(&checking) == EBUSY);
    assert(pthread_mutex_unlock(&checking) == 0);
    assert(pthread_mutex_unlock(&checking) == EPERM);
    pthread_create(&thread, 0, other, 0);
    other(0);
    pthread_join(thread, 0);
    assert(count == 2);
    assert(pthread_mutex_destroy(&recursive) == 0);
    return 0;
}
