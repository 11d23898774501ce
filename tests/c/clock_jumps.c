// bug: failed assertion
// fixed: 4 executions
// settings: UNPICK_CLOCK_JUMPS=1
#include <assert.h>
#include <time.h>
// At each look at the clock much time may have passed, or hardly any.
int main(void) {
    struct timespec now;
    time_t first = time(0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert(now.tv_sec >= first);
#ifdef BUG
    assert(now.tv_sec - first < 60);
#endif
    return 0;
}
