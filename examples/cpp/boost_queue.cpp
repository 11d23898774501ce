// The queue of Boost.Lockfree, as it is: one thread puts a value in, two take one out.
#include <boost/lockfree/queue.hpp>

#include <cassert>
#include <thread>

int main() {
    boost::lockfree::queue<int> queue(2);
    int first = 0, second = 0;
    std::thread putting([&] { queue.push(1); });
    std::thread taking([&] { queue.pop(first); });
    queue.pop(second);
    putting.join();
    taking.join();
    assert(first + second <= 1);
    return 0;
}
