// bug: data race
// fixed: 4 executions
// says: two accesses to
#include <atomic>
#include <cassert>
#include <thread>
// A global object that has a thread from before `main` until after it.
static int plain;
struct Worker {
    std::atomic<int> started{0}, wanted{0}, done{0};
    std::thread thread;
    Worker() : thread([this] {
        started.store(1, std::memory_order_release);
#ifdef BUG
        plain++;
#endif
        int seen = wanted.load(std::memory_order_acquire);
        done.store(seen + 1, std::memory_order_release);
    }) {}
    ~Worker() {
        thread.join();
        assert(done.load() == 1 || done.load() == 2);
#ifndef BUG
        plain++;
#endif
    }
};
static Worker worker;
int main() {
#ifdef BUG
    plain++;
#endif
    worker.wanted.store(1, std::memory_order_release);
    assert(worker.started.load() <= 1);
}
