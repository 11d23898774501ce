// fixed: 1600 executions
// settings: UNPICK_STRATEGY=optimal
#include <fcntl.h>
#include <unpick.h>
int main(void) {
    unpick_choose(40);
    unpick_choose(40);
    for (int i = 0; i < 4; i++)
        unpick_require(open("/dev/null", O_RDONLY) >= 0);
    return 0;
}
