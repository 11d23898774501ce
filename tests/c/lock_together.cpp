// bug opposite: data race
// fixed opposite: 2 executions, 1 blocked
// bug rotated: data race
// fixed rotated: 6 executions, 7 blocked
// bug deferred: data race
// fixed deferred: 2 executions, 1 blocked
// bug held: deadlock
// fixed held: 1 executions, 1 blocked
// bug ring: deadlock
// fixed ring: 2 executions, 1 blocked
// bug seen: failed assertion
// fixed seen: holds
// bug own: data race
// fixed own: holds
// flags: -std=c++17

// Mutexes that are taken together. Whoever gets some of them and waits for the rest stands in nobody's way.
#include <cassert>
#include <mutex>
#include <thread>
#include "cases.h"

static std::mutex a, b, c;
static int sum;

/* Adds outside of the locks, or inside. */
template <typename... Locks> static void add(Locks &...locks) {
#ifdef BUG
    { std::scoped_lock all(locks...); }
    sum++;
#else
    std::scoped_lock all(locks...);
    sum++;
#endif
}

static void opposite() {
    std::thread other([] { add(b, a); });
    add(a, b);
    other.join();
    assert(sum == 2);
}

static void rotated() {
    std::thread one([] { add(b, c, a); });
    std::thread two([] { add(c, a, b); });
    add(a, b, c);
    one.join();
    two.join();
    assert(sum == 3);
}

/* Through objects that are to know that they own their mutexes. */
static void deferred() {
    auto both = [](std::mutex &x, std::mutex &y) {
        std::unique_lock<std::mutex> one(x, std::defer_lock), two(y, std::defer_lock);
        std::lock(one, two);
        assert(one.owns_lock() && two.owns_lock());
#ifdef BUG
        one.unlock();
        two.unlock();
#endif
        sum++;
    };
    std::thread other([&] { both(b, a); });
    both(a, b);
    other.join();
}

/* One is never given back, or is. */
static void held() {
    b.lock();
    std::thread other([] { std::scoped_lock both(a, b); });
    {
        std::scoped_lock one(a);
        sum++;
    }
#ifndef BUG
    b.unlock();
#endif
    other.join();
}

/* Who waits for one mutex with the other in hand is stuck if someone does so the other way round, and not if that one
   takes both at once. */
static void ring() {
    std::thread other([] {
        std::lock_guard<std::mutex> one(a);
        std::lock_guard<std::mutex> two(b);
        sum++;
    });
#ifdef BUG
    std::thread third([] {
        std::lock_guard<std::mutex> one(b);
        std::lock_guard<std::mutex> two(a);
    });
    third.join();
#endif
    {
        std::scoped_lock both(b, a);
        sum++;
    }
    other.join();
}

/* Who tries one of them finds out that it is held for a while. */
static void seen() {
    bool taken = false;
    b.lock();
    std::thread one([] { std::scoped_lock both(a, b); });
    std::thread two([&] {
        taken = !a.try_lock();
        if (!taken)
            a.unlock();
    });
    two.join();
#ifdef BUG
    assert(!taken);
#endif
    b.unlock();
    one.join();
}

/* A lock of the program's own, beside one of the library. */
struct Own {
    std::mutex inner;
    void lock() { inner.lock(); }
    bool try_lock() { return inner.try_lock(); }
    void unlock() { inner.unlock(); }
};

static void own() {
    static Own mine;
    std::thread other([] { add(mine, a); });
    add(mine, a);
    other.join();
}

CASES({"opposite", opposite}, {"rotated", rotated}, {"deferred", deferred}, {"held", held}, {"ring", ring},
      {"seen", seen}, {"own", own})
