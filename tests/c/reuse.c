// bug: failed assertion
// fixed: 2 executions
// settings: UNPICK_REUSE=1
#include <assert.h>
#include <stdlib.h>
static int *volatile first, *volatile second;
int main(void) {
    first = malloc(sizeof *first);
    *first = 1;
    free(first);
    second = calloc(1, sizeof *second);
    assert(*second == 0);
#ifdef BUG
    assert(first != second);
#endif
    free(second);
    return 0;
}
