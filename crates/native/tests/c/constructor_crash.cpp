// bug: crash
// fixed: 1 executions
// says: a null pointer is used
#include <vector>
// What goes wrong before `main` is told like anything else.
static int *pointer(int) { return nullptr; }
struct Thing {
    std::vector<int> numbers;
    Thing() : numbers(3, 1) {
#ifdef BUG
        *pointer(1) = 1;
#endif
    }
};
static Thing thing;
int main() { return thing.numbers[2] - 1; }
