// by: crates/cli/tests/it/headers.rs, part by part
// flags: -std=c++20

// What the C++20 library has for threads, each part once, with what must be true of it in every execution.
#include <unpick.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

static int constructed;
static std::atomic<int> destroyed;

struct Counted {
    int uses = 0;
    ~Counted() { destroyed.fetch_add(1); }
};

static thread_local Counted own;
static thread_local int plain_own = 1;

static int &made_once() {
    static int value = ++constructed;
    return value;
}

static void semaphore() {
    std::counting_semaphore<4> ready(0);
    int value = 0;
    std::jthread other([&] {
        value = 1;
        ready.release();
    });
    ready.acquire();
    unpick_require(value == 1);
}

static void latch() {
    std::latch both(2);
    int values[2] = {};
    std::jthread other([&] {
        values[0] = 1;
        both.arrive_and_wait();
        unpick_require(values[1] == 1);
    });
    values[1] = 1;
    both.arrive_and_wait();
    unpick_require(values[0] == 1);
}

static void barrier() {
    int rounds = 0;
    std::barrier both(2, [&]() noexcept { ++rounds; });
    std::jthread other([&] {
        both.arrive_and_wait();
        both.arrive_and_wait();
    });
    both.arrive_and_wait();
    unpick_require(rounds >= 1);
    both.arrive_and_wait();
    unpick_require(rounds == 2);
}

static void waiting() {
    std::atomic<int> word{0};
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    std::jthread other([&] {
        word.store(1, std::memory_order_release);
        word.notify_all();
        flag.test_and_set();
        flag.notify_one();
    });
    word.wait(0, std::memory_order_acquire);
    flag.wait(false);
    unpick_require(word.load() == 1 && flag.test());
}

static void futures() {
    std::promise<std::string> promise;
    std::future<std::string> text = promise.get_future();
    std::jthread other([&] { promise.set_value("text"); });
    unpick_require(text.get() == "text");
    std::future<int> fails = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
    bool caught = false;
    try {
        fails.get();
    } catch (const std::runtime_error &error) {
        caught = std::string(error.what()) == "no";
    }
    unpick_require(caught);
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    std::future<int> sum = task.get_future();
    std::thread runner(std::move(task), 2);
    unpick_require(sum.get() == 3);
    runner.join();
}

static void shared() {
    std::shared_mutex mutex;
    int value = 0;
    {
        std::jthread writer([&] {
            std::unique_lock lock(mutex);
            value = 1;
        });
        std::shared_lock lock(mutex);
        unpick_require(value == 0 || value == 1);
    }
    unpick_require(value == 1);
}

static void condition() {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    std::jthread other([&] {
        std::lock_guard lock(mutex);
        ready = true;
        changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
    unpick_require(ready);
}

static void stopping() {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool stopped = false;
    {
        std::jthread other([&](std::stop_token token) {
            std::unique_lock lock(mutex);
            changed.wait(lock, token, [] { return false; });
            stopped = token.stop_requested();
        });
    }
    unpick_require(stopped);
}

static void once() {
    std::once_flag flag;
    int calls = 0;
    auto try_once = [&] {
        try {
            std::call_once(flag, [&] {
                if (calls++ == 0) {
                    throw 1;
                }
            });
        } catch (int) {
        }
    };
    {
        std::jthread one(try_once), two(try_once);
    }
    unpick_require(calls == 2);
}

static void thread_locals() {
    int before = destroyed.load();
    auto visit = [] {
        ++own.uses;
        ++plain_own;
        unpick_require(own.uses == 1 && plain_own == 2);
        unpick_require(made_once() == 1);
    };
    {
        std::jthread one(visit), two(visit);
    }
    unpick_require(destroyed.load() == before + 2);
    unpick_require(constructed == 1);
}

static void recursion() {
    std::recursive_mutex mutex;
    std::timed_mutex timed;
    int value = 0;
    {
        std::jthread other([&] {
            std::scoped_lock all(mutex, timed);
            std::lock_guard again(mutex);
            ++value;
        });
        std::scoped_lock all(timed, mutex);
        ++value;
    }
    unpick_require(value == 2);
}

static void pointers() {
    struct Object {
        std::atomic<int> &ended;
        ~Object() { ended.fetch_add(1); }
    };
    std::atomic<int> ended{0};
    {
        auto object = std::make_shared<Object>(ended);
        std::weak_ptr<Object> weak = object;
        std::jthread other([copy = object] { (void)copy; });
        object.reset();
        if (auto still = weak.lock()) {
            unpick_require(ended.load() == 0);
        }
    }
    unpick_require(ended.load() == 1);
}

// Each part alone, by its number, or all of them: one after the other they would multiply.
int main(int argc, char **argv) {
    void (*parts[])() = {semaphore, latch,    barrier, waiting,       futures,   shared,
                         condition, stopping, once,    thread_locals, recursion, pointers};
    const int count = sizeof parts / sizeof parts[0];
    for (int part = 0; part < count; ++part) {
        if (argc < 2 || std::stoi(argv[1]) == part) {
            parts[part]();
        }
    }
    return 0;
}
