// bug exit: failing exit
// says exit: 3
// fixed exit: 2 executions
// bug _exit: failing exit
// says _exit: 3
// fixed _exit: 2 executions
// bug _Exit: failing exit
// says _Exit: 3
// fixed _Exit: 2 executions
// bug quick_exit: failing exit
// says quick_exit: 3
// fixed quick_exit: 2 executions
// bug return: failing exit
// says return: 3
// fixed return: 2 executions
// bug in_thread: failing exit
// says in_thread: 3
// fixed in_thread: 2 executions
// bug __assert: failed assertion
// says __assert: assertion `the code is 0` failed
// fixed __assert: 1 executions
// bug atexit: failed assertion
// fixed atexit: 1 executions
// bug at_quick_exit: failed assertion
// fixed at_quick_exit: 1 executions

// How a process ends: with a code, which is a violation if it is not 0, and after what was to be done at its end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BUG
enum { CODE = 3 };
#else
enum { CODE = 0 };
#endif

static atomic_int x;
static int called;

static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void *ends(void *unused) {
    if (atomic_load(&x))
        exit(CODE);
    return unused;
}

static void second(void) { assert(called == 1); }
static void first(void) { called++; }
static void never(void) {
#ifndef BUG
    assert(0);
#endif
}
static void quick(void) {
    called++;
#ifdef BUG
    assert(0);
#endif
}

int main(int count, char **arguments) {
    pthread_t thread;
    const char *how = count == 2 ? arguments[1] : "";
    if (!strcmp(how, "atexit")) {
#ifdef BUG
        called = 1;
#endif
        atexit(second);
        atexit(first);
        at_quick_exit(never);
        return 0;
    }
    if (!strcmp(how, "at_quick_exit")) {
        atexit(never);
        at_quick_exit(second);
        at_quick_exit(quick);
        quick_exit(0);
    }
    if (!strcmp(how, "__assert")) {
        if (CODE)
            __assert("the code is 0", __FILE__, __LINE__);
        return 0;
    }
    if (!strcmp(how, "in_thread")) {
        pthread_create(&thread, 0, ends, 0);
        set(0);
        pthread_join(thread, 0);
        return 0;
    }
    pthread_create(&thread, 0, set, 0);
    if (!atomic_load(&x)) {
        if (!strcmp(how, "exit"))
            exit(CODE);
        if (!strcmp(how, "_exit"))
            _exit(CODE);
        if (!strcmp(how, "_Exit"))
            _Exit(CODE);
        if (!strcmp(how, "quick_exit"))
            quick_exit(CODE);
        return CODE;
    }
    pthread_join(thread, 0);
    return 0;
}
