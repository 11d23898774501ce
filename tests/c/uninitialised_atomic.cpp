// bug: use of uninitialised memory
// fixed: 2 executions
// settings: UNPICK_UNINITIALISED=1
// says: atomic read by main
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
// Storage of an atomic variable that nobody has made.
int main() {
    void *storage = std::malloc(sizeof(std::atomic<long>));
#ifdef BUG
    auto *count = static_cast<std::atomic<long> *>(storage);
#else
    auto *count = new (storage) std::atomic<long>(0);
#endif
    count->fetch_add(1);
    std::thread other([count] { count->fetch_add(1); });
    count->fetch_add(1);
    other.join();
    std::free(storage);
}
