// holds
// condition_variable::wait_for with a predicate.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
int main() {
    std::mutex lock;
    std::condition_variable condition;
    bool ready = false;
    std::thread other([&] {
        {
            std::lock_guard<std::mutex> guard(lock);
            ready = true;
        }
        condition.notify_one();
    });
    {
        std::unique_lock<std::mutex> guard(lock);
        bool in_time = condition.wait_for(guard, std::chrono::milliseconds(100), [&] { return ready; });
        assert(in_time == ready);
    }
    other.join();
}
