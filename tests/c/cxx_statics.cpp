// bug guard: failed assertion
// fixed guard: 2 executions
// bug locals: data race
// fixed locals: 1 executions
// bug exits: abort
// fixed exits: 1 executions
// bug virtual_calls: data race
// fixed virtual_calls: 1 executions

// Static and thread-local objects of C++, and objects with virtual functions.
#include <cassert>
#include <new>
#include <thread>

#include <pthread.h>

#include "cases.h"

static int tries;

struct Thrower {
    int number;
    Thrower() : number(++tries) {
        if (number == 1)
            throw 1;
    }
};

static int make() {
    try {
        static Thrower thrower;
        return thrower.number;
    } catch (int) {
        return 0;
    }
}

/* An exception in the constructor: whoever comes next tries again. */
static void guard() {
    int other = -1;
    std::thread thread([&] { other = make(); });
    int own = make();
    thread.join();
#ifdef BUG
    assert(own == 0);
#endif
    assert(own + other == 2 && tries == 2 && make() == 2);
}

static int destroyed;
extern "C" int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);

struct Local {
    int number = 1;
    ~Local() { destroyed += number; }
};
static thread_local Local local;

/* Destructors of a thread's objects run before whoever waits for it goes on. */
static void locals() {
    std::thread thread([] {
        assert(local.number == 1);
        __cxa_thread_atexit_impl([](void *unused) { destroyed += unused == nullptr; }, nullptr, nullptr);
    });
#ifdef BUG
    destroyed++;
#endif
    thread.join();
    assert(destroyed == 2);
}

struct Counted {
    int &count;
    ~Counted() { count++; }
};

static void end_thread(int &count) {
    Counted deep{count};
    pthread_exit(&count);
}

/* A thread that ends itself destroys what is on its stack; whoever catches that must let it go on. */
static void exits() {
    pthread_t threads[2];
    int counts[2] = {};
    auto work = [](void *count) -> void * {
        Counted outer{*static_cast<int *>(count)};
        try {
            end_thread(*static_cast<int *>(count));
        } catch (...) {
            ++*static_cast<int *>(count);
#ifndef BUG
            throw;
#endif
        }
        return nullptr;
    };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], nullptr, work, &counts[i]);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert(result == &counts[i] && counts[i] == 3);
    }
}

struct Base {
    virtual int number() { return 1; }
    virtual ~Base();
};
struct Derived : Base {
    int number() override { return 2; }
};

__attribute__((noinline)) static int number_of(Base *object) { return object->number(); }
Base::~Base() { assert(number_of(this) == 1); }

/* The pointer to the virtual functions is read by a call, and written by a destructor. */
static void virtual_calls() {
    Base *object = new Derived;
    std::thread thread([=] { assert(number_of(object) == 2); });
#ifndef BUG
    thread.join();
#endif
    object->~Base();
#ifdef BUG
    thread.join();
#endif
    operator delete(object);
}

CASES({"guard", guard}, {"locals", locals}, {"exits", exits}, {"virtual_calls", virtual_calls})
