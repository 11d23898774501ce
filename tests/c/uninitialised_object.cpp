// fixed: 1 executions
// settings: UNPICK_UNINITIALISED=1
// flags: -std=c++20
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
// Containers, text and locks of the library, some of which write unseen.
struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::string> text;
    std::deque<std::string> lines;
    std::map<std::string, std::vector<int>> table;
    std::unordered_map<int, std::string> names;
    bool done = false;
};
int main() {
    auto shared = std::make_unique<Shared>();
    std::stringstream stream;
    stream << "a line that is longer than what fits into the object itself " << 3.5;
    std::string line;
    std::getline(stream, line);
    for (int i = 0; i < 20; i++) {
        std::lock_guard guard(shared->mutex);
        shared->lines.push_back(line + std::to_string(i));
        shared->table[line.substr(0, i % 5)].push_back(i);
        shared->names[i] = shared->lines.back().c_str();
    }
    shared->text = shared->lines.front() + shared->names.at(3);
    std::promise<std::string> promise;
    promise.set_value(*shared->text);
    std::thread other([&] { shared->text = promise.get_future().get(); });
    other.join();
    std::vector<std::string> sorted(shared->lines.begin(), shared->lines.end());
    return shared->text->size() > 10 && sorted.size() == 20 ? 0 : 1;
}
