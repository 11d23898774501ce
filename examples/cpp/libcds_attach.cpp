// The hazard pointers of libcds, without a container: two threads come, give an object up, and leave.
//
// A thread that leaves gives its record back, and one that comes later takes it with a relaxed compare-and-swap (hp.cpp:270). So what
// the first has written into the record, its list of objects that were given up, is not ordered before what the second writes
// there: a data race.
#include <thread>

#include <cds/gc/hp.h>
#include <cds/init.h>

struct Delete {
    void operator()(int *object) { delete object; }
};

int main() {
    cds::Initialize();
    {
        cds::gc::HP hazard_pointers;
        auto visit = [] {
            cds::threading::Manager::attachThread();
            cds::gc::HP::retire<Delete>(new int(1));
            cds::threading::Manager::detachThread();
        };
        std::thread one(visit), two(visit);
        one.join();
        two.join();
    }
    cds::Terminate();
    return 0;
}
