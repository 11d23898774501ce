// bug: failed assertion
// fixed: 1 executions
// says: quickly
#include <assert.h>
#include <stdlib.h>
// A quick exit runs the functions that were registered for it, and no others.
static int ran;
static void quickly(void) {
    ran++;
#ifdef BUG
    assert(ran == 2);
#endif
}
static void never(void) { abort(); }
int main(void) {
    atexit(never);
    at_quick_exit(quickly);
    quick_exit(0);
}
