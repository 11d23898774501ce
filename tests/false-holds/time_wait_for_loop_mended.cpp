// holds
// condition_variable::wait_for without a predicate, in a loop of four attempts, and a signal.
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
        std::lock_guard<std::mutex> guard(lock);
        ready = true;
        condition.notify_all();
    });
    {
        std::unique_lock<std::mutex> guard(lock);
        for (int tries = 0; !ready && tries < 4; tries++) {
            if (condition.wait_for(guard, std::chrono::milliseconds(10)) == std::cv_status::timeout)
                continue;
        }
    }
    other.join();
}
