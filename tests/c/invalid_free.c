// bug: invalid free
// fixed: 1 executions
#include <stdlib.h>
static char *block;
int main(void) {
    block = malloc(32);
#ifdef BUG
    free(block + 8);
#else
    free(block);
#endif
    return 0;
}
