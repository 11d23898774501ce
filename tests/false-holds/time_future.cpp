// violated: failed assertion
// future::wait_for in a loop of two attempts, after which the value is taken to be there.
#include <cassert>
#include <chrono>
#include <future>
#include <thread>
int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread other([&] { promise.set_value(3); });
    std::future_status status = std::future_status::timeout;
    for (int attempt = 0; attempt < 2 && status != std::future_status::ready; attempt++)
        status = future.wait_for(std::chrono::milliseconds(50));
    assert(status == std::future_status::ready);
    other.join();
}
