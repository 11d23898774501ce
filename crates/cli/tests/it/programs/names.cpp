#include <atomic>
#include <memory>
#include <thread>

struct Node {
    int value;
    std::atomic<int> uses;
};

struct Table {
    Node nodes[3];
};

static Table table;

namespace queue {
struct Queue {
    std::atomic<int> size;
    int last;
    void push(int value) {
        size.fetch_add(1, std::memory_order_relaxed);
        last = value;
    }
};
}  // namespace queue

int main() {
    auto shared = std::make_unique<queue::Queue>();
    auto use_table = [&] {
        table.nodes[2].uses.store(1, std::memory_order_relaxed);
        shared->push(1);
    };
    std::thread first(use_table);
    std::thread second([&] { shared->push(2); });
    first.join();
    second.join();
}
