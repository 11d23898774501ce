// The hazard pointers of libcds, without a container: two threads attach themselves and leave again.
//
// A thread that leaves gives its record back with a relaxed store, and one that comes takes it with a relaxed compare-and-swap,
// so what the first has written into the record is not ordered before what the second does with it: a data race.
#include <thread>

#include <cds/gc/hp.h>
#include <cds/init.h>

int main() {
    cds::Initialize();
    {
        cds::gc::HP hazard_pointers;
        auto visit = [] {
            cds::threading::Manager::attachThread();
            cds::threading::Manager::detachThread();
        };
        std::thread one(visit), two(visit);
        one.join();
        two.join();
    }
    cds::Terminate();
    return 0;
}
