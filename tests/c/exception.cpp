// bug: abort
// fixed: 4 executions
#include <mutex>
#include <stdexcept>
#include <thread>
static std::once_flag once;
static int tries;
static void try_it() {
    try {
        std::call_once(once, [] {
            if (tries++ == 0)
                throw std::runtime_error("the first time");
        });
    } catch (const std::runtime_error &) {
        std::call_once(once, [] { tries++; });
    }
}
int main() {
    std::thread other([] {
        try_it();
#ifdef BUG
        throw 1;
#endif
    });
    try_it();
    other.join();
    return tries == 2 ? 0 : 1;
}
