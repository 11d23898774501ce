// bug: abort
// fixed: 1 executions
#include <cstdlib>
#include <stdexcept>
// An exception that leaves a function for the end of the process.
static void end() {
#ifdef BUG
    throw std::runtime_error("late");
#endif
}
int main() { std::atexit(end); }
