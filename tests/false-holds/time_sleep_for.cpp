// violated: failed assertion
// std::this_thread::sleep_for in a loop with a limit by the system's clock.
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>
int main() {
    using clock = std::chrono::system_clock;
    std::atomic<int> value{0};
    std::thread other([&] { value.store(9); });
    const auto start = clock::now();
    while (value.load() == 0 && clock::now() - start < std::chrono::minutes(2))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    assert(value.load() == 9);
    other.join();
}
