// bug latch: deadlock
// fixed latch: holds
// bug wait: deadlock
// fixed wait: holds
// bug barrier: deadlock
// fixed barrier: holds
// bug semaphore: deadlock
// fixed semaphore: holds
// bug future: deadlock
// fixed future: holds
// bug static_local: deadlock
// fixed static_local: 1 executions
// flags: -std=c++20
// settings: UNPICK_MODEL=sc

// Threads that wait for what nobody does, with what the C++ library has for waiting.
#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <semaphore>
#include <thread>
#include "cases.h"

#ifdef BUG
constexpr bool broken = true;
#else
constexpr bool broken = false;
#endif

static void latch() {
    std::latch both(2);
    std::thread other([&] {
        if (!broken)
            both.count_down();
    });
    both.arrive_and_wait();
    other.join();
}

static void wait() {
    std::atomic<int> word{0};
    std::thread other([&] {
        if (!broken)
            word.store(1);
        word.notify_one();
    });
    word.wait(0);
    other.join();
}

static void barrier() {
    std::barrier both(2);
    std::thread other([&] {
        if (!broken)
            (void)both.arrive();
    });
    both.arrive_and_wait();
    other.join();
}

static void semaphore() {
    std::counting_semaphore<2> permits(0);
    std::thread other([&] {
        if (!broken)
            permits.release();
    });
    permits.acquire();
    other.join();
}

static void future() {
    std::promise<int> promise;
    std::future<int> value = promise.get_future();
    std::thread other([&] {
        if (!broken)
            promise.set_value(1);
    });
    value.wait();
    other.join();
}

/* Each needs the other to be made. */
struct Second;
struct First {
    First();
};
struct Second {
    Second();
};
static First &first() {
    static First value;
    return value;
}
static Second &second() {
    static Second value;
    return value;
}
First::First() { second(); }
Second::Second() {
    if (broken)
        first();
}

static void static_local() {
    std::thread other([] { first(); });
    if (broken)
        second();
    other.join();
}

CASES({"latch", latch}, {"wait", wait}, {"barrier", barrier}, {"semaphore", semaphore}, {"future", future},
      {"static_local", static_local})
