// holds
// std::chrono::steady_clock in a loop that yields.
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>
int main() {
    using clock = std::chrono::steady_clock;
    std::atomic<bool> flag{false};
    std::thread other([&] { flag.store(true, std::memory_order_release); });
    const auto deadline = clock::now() + std::chrono::seconds(3);
    bool late = false;
    while (!flag.load(std::memory_order_acquire)) {
        if (clock::now() >= deadline) {
            late = true;
            break;
        }
        std::this_thread::yield();
    }
    assert(late || flag.load());
    other.join();
}
