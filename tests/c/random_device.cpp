// bug: failed assertion
// fixed: 2 executions
// settings: UNPICK_RANDOM=2
#include <cassert>
#include <random>
// The library asks the processor for random numbers, unless somebody stands before it.
int main() {
    std::random_device device;
    unsigned number = device();
    assert(number < 2);
#ifdef BUG
    assert(number != 1);
#endif
}
