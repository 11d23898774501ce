// holds
// Each round has a vector and a string of its own.
#include <atomic>
#include <string>
#include <thread>
#include <vector>
static std::atomic<int> flag;
int main() {
    std::thread other([] { flag.store(1, std::memory_order_release); });
    while (!flag.load(std::memory_order_acquire)) {
        std::vector<int> numbers(5, 1);
        std::string text(40, static_cast<char>('a' + numbers.size()));
    }
    other.join();
}
