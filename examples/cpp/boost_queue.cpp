// The queue of Boost.Lockfree, as it is: one thread puts a value in, two take one out.
//
// A data race is found, which Boost takes into account: a node that is given back goes to a list of free nodes, which writes
// its link plainly, while another thread that still has its pointer reads the link with an atomic load. What is
// read is thrown away, but for the memory model of C++ such a program has no meaning.
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
