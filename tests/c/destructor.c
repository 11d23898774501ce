// bug: failed assertion
// fixed: 2 executions
// says: at_the_end
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
// Functions that run at the end: in their order, in each execution, with the code of the exit, and with other threads.
static char order[8];
static atomic_int x;
static int begun;
static void *set(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return unused;
}
static void note(char what) { order[strlen(order)] = what; }
static void first(void) { note('1'); }
static void second(void) { note('2'); }
static void coded(int code, void *what) {
    assert(code == 0);
    note(*(char *)what);
}
__attribute__((constructor)) static void begin(void) {
    assert(begun++ == 0 && order[0] == 0);
    atexit(first);
}
__attribute__((destructor)) static void at_the_end(void) {
    assert(strcmp(order, "2c1") == 0);
#ifdef BUG
    assert(atomic_load(&x) == 1);
#else
    (void)atomic_load(&x);
#endif
}
int main(void) {
    pthread_t thread;
    static char c = 'c';
    on_exit(coded, &c);
    atexit(second);
    pthread_create(&thread, 0, set, 0);
    pthread_detach(thread);
    return 0;
}
