// bug: failed assertion
// fixed: 27 executions
// settings: UNPICK_RANDOM=3
#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
// Each random number is a choice.
int main(void) {
    int first = rand();
    unsigned char second = 7;
    assert(getrandom(&second, 1, 0) == 1);
    double third = drand48();
    assert(first >= 0 && first < 3 && second < 3 && third < 0.67);
#ifdef BUG
    assert(first != 2 || second != 1 || third < 0.6);
#endif
    return 0;
}
