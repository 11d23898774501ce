// bug: crash
// fixed: 1 executions
// says: a null pointer is used
#include <vector>
// What goes wrong before `main` is told like anything else.
static int *volatile nowhere;
struct Thing {
    std::vector<int> numbers;
    Thing() : numbers(3, 1) {
#ifdef BUG
        *nowhere = 1;
#endif
    }
};
static Thing thing;
int main() { return thing.numbers[2] - 1; }
