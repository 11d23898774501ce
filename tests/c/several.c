// bug: failed assertion
// fixed: 3 executions
#include <assert.h>
#include <stdlib.h>
#include <unpick.h>
int main(void) {
    unsigned number = unpick_choose(3);
#ifdef BUG
    assert(number != 0);
    if (number == 1)
        abort();
#endif
    (void)number;
    return 0;
}
