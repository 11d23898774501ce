// A library that starts a thread in its constructors, and waits for it in its destructors.
#include <atomic>
#include <cassert>
#include <cstring>
#include <thread>
extern std::atomic<int> wanted, seen;
std::atomic<int> wanted{0}, seen{0};
int plain;
char order[8];
namespace {
struct Worker {
    std::thread thread;
    Worker() {
        assert(order[0] == 0);
        strcat(order, "l");
#ifndef NO_THREAD
        thread = std::thread([] {
#ifdef BUG
            plain++;
#endif
            seen.store(1 + wanted.load());
        });
#endif
        wanted.fetch_add(1);
    }
    ~Worker() {
        if (thread.joinable())
            thread.join();
        assert(strcmp(order, "lpm") == 0);
    }
};
Worker worker;
}
