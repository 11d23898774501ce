#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> message{0};
std::atomic<bool> ready{false};

int main() {
    std::thread sender([] {
        message.store(42, std::memory_order_relaxed);
        ready.store(true, std::memory_order_relaxed);
    });
    if (ready.load(std::memory_order_acquire)) {
        assert(message.load(std::memory_order_relaxed) == 42);
    }
    sender.join();
}
