// A queue or stack of libcds, with its own hazard pointers: one thread puts a value in, two take one out.
//
// The memory model of C++ finds the bug of MSQueue and OptimisticQueue: `dequeue` moves the head with an acquire
// compare-and-swap (msqueue.h:396, optimistic_queue.h:486), so the thread that dequeues next can reach a node
// whose allocation it is not ordered after. With a release there, nothing is found; and nothing under `--model sc`.
//
// Threads pass a barrier after they have attached themselves to libcds, and another before they leave: libcds has a race of
// its own in between, which libcds_attach.cpp shows.
//
// One of these is to be defined: MSQUEUE, MOIR_QUEUE, OPTIMISTIC_QUEUE, BASKET_QUEUE, TREIBER_STACK, VYUKOV_QUEUE.
#include <pthread.h>

#include <cassert>
#include <thread>

#include <cds/gc/hp.h>
#include <cds/init.h>

#if defined(MSQUEUE)
#include <cds/container/msqueue.h>
using Container = cds::container::MSQueue<cds::gc::HP, int>;
static Container *make() { return new Container; }
#elif defined(MOIR_QUEUE)
#include <cds/container/moir_queue.h>
using Container = cds::container::MoirQueue<cds::gc::HP, int>;
static Container *make() { return new Container; }
#elif defined(OPTIMISTIC_QUEUE)
#include <cds/container/optimistic_queue.h>
using Container = cds::container::OptimisticQueue<cds::gc::HP, int>;
static Container *make() { return new Container; }
#elif defined(BASKET_QUEUE)
#include <cds/container/basket_queue.h>
using Container = cds::container::BasketQueue<cds::gc::HP, int>;
static Container *make() { return new Container; }
#elif defined(TREIBER_STACK)
#include <cds/container/treiber_stack.h>
using Container = cds::container::TreiberStack<cds::gc::HP, int>;
static Container *make() { return new Container; }
#elif defined(VYUKOV_QUEUE)
#include <cds/container/vyukov_mpmc_cycle_queue.h>
using Container = cds::container::VyukovMPMCCycleQueue<int>;
static Container *make() { return new Container(2); }
#else
#error "define the name of a container, such as MSQUEUE"
#endif

static const int threads = 3;
static pthread_barrier_t attached, done;

// Runs an operation in a thread that libcds knows.
template <class Operation>
static void attached_to_libcds(Operation operation) {
    cds::threading::Manager::attachThread();
    pthread_barrier_wait(&attached);
    operation();
    pthread_barrier_wait(&done);
    cds::threading::Manager::detachThread();
}

int main() {
    pthread_barrier_init(&attached, nullptr, threads);
    pthread_barrier_init(&done, nullptr, threads);
    cds::Initialize();
    {
        cds::gc::HP hazard_pointers;
        cds::threading::Manager::attachThread();
        Container *container = make();
        int first = 0, second = 0;
        std::thread putting([&] { attached_to_libcds([&] { container->push(1); }); });
        std::thread taking([&] { attached_to_libcds([&] { container->pop(first); }); });
        std::thread taking_too([&] { attached_to_libcds([&] { container->pop(second); }); });
        putting.join();
        taking.join();
        taking_too.join();
        assert(first + second <= 1);
        delete container;
        cds::threading::Manager::detachThread();
    }
    cds::Terminate();
    return 0;
}
