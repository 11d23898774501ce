// A program that uses the library `worker`.
#include <atomic>
#include <cassert>
#include <cstring>
extern std::atomic<int> wanted, seen;
extern int plain;
extern char order[8];
struct Own {
    Own() {
        assert(strcmp(order, "l") == 0);
        strcat(order, "p");
    }
};
static Own own;
int main() {
    strcat(order, "m");
    plain++;
    wanted.fetch_add(1);
    assert(seen.load() <= 3);
}
