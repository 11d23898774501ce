// bug: access out of bounds
// fixed: 1 executions
// says: has 10 bytes
#include <stdlib.h>
static volatile char *block;
int main(void) {
    block = malloc(10);
#ifdef BUG
    block[10] = 1;
#else
    block[9] = 1;
#endif
    free((void *)block);
    return 0;
}
