// violated: failed assertion
// condition_variable::wait_for without a predicate, in a loop, and a signal; a time-out is taken for the end.
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
        while (!ready) {
            if (condition.wait_for(guard, std::chrono::milliseconds(10)) == std::cv_status::timeout)
                break;
        }
        assert(ready);
    }
    other.join();
}
