// fixed: 4 executions
// flags: -std=c++20
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#ifdef ORDINARY
constexpr int THREADS = 4, ROUNDS = 1000, CODE = 7;
#else
constexpr int THREADS = 1, ROUNDS = 1, CODE = 0;
#endif

struct Announcer {
    ~Announcer() { std::puts("destroyed"); }
};
static Announcer announcer;

static std::atomic<int> ready{0};
static std::mutex lock;
static std::condition_variable condition;
static int count = 0;

int main(int argc, char **argv) {
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++) {
        threads.emplace_back([] {
            for (int round = 0; round < ROUNDS; round++) {
                std::lock_guard<std::mutex> guard(lock);
                count++;
            }
            ready.fetch_add(1);
            std::lock_guard<std::mutex> guard(lock);
            condition.notify_one();
        });
    }
    {
        std::unique_lock<std::mutex> guard(lock);
        condition.wait(guard, [] { return ready.load() == THREADS; });
    }
    for (auto &thread : threads)
        thread.join();
    std::string word = argc > 1 ? argv[1] : "none";
    std::printf("%d %s\n", count, word.c_str());
    return CODE;
}
