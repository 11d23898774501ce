// bug: data race
// fixed: 4 executions
#include <cassert>
#include <thread>
static int made;
struct Thing {
    int number;
    Thing() : number(++made) {}
};
static Thing *slot;
static Thing &thing() {
#ifdef BUG
    if (!slot)
        slot = new Thing;
    return *slot;
#else
    static Thing thing;
    return thing;
#endif
}
int main() {
    std::thread other([] { assert(thing().number == 1); });
    assert(thing().number == 1);
    other.join();
    delete slot;
}
