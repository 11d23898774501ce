// holds
// Two threads take two locks in opposite orders; who does not get the second unlocks the first and begins again.
#include <cassert>
#include <mutex>
#include <thread>
static std::mutex first, second;
static int sum;
int main() {
    std::thread other([] {
        std::scoped_lock both(second, first);
        sum++;
    });
    {
        std::scoped_lock both(first, second);
        sum++;
    }
    other.join();
    assert(sum == 2);
}
