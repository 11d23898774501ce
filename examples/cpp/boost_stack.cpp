// The stack of Boost.Lockfree, as it is: one thread puts a value in, two take one out.
//
// A data race is found, which Boost takes into account: `pop` reads the link of the node on top, while another thread that has
// taken the node gives it back to a list of free nodes, which writes the link. What is read is thrown away, but for the
// memory model of C++ such a program has no meaning.
#include <boost/lockfree/stack.hpp>

#include <cassert>
#include <thread>

int main() {
    boost::lockfree::stack<int> stack(2);
    int first = 0, second = 0;
    std::thread putting([&] { stack.push(1); });
    std::thread taking([&] { stack.pop(first); });
    stack.pop(second);
    putting.join();
    taking.join();
    assert(first + second <= 1);
    return 0;
}
