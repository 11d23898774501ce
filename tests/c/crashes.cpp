// bug null: crash
// says null: a null pointer is used
// bugs null: 1 crash, 6 executions
// fixed null: 6 executions
// bug wild: crash
// says wild: a segmentation fault at address 0x123456789
// bugs wild: 1 crash, 6 executions
// fixed wild: 6 executions
// bug division: crash
// says division: an arithmetic error
// bugs division: 1 crash, 6 executions
// fixed division: 6 executions
// bug illegal: crash
// says illegal: an illegal instruction
// bugs illegal: 1 crash, 6 executions
// fixed illegal: 6 executions
// bug bus: crash
// says bus: a bus error
// bugs bus: 1 crash, 6 executions
// fixed bus: 6 executions
// bug trap: crash
// says trap: a trap
// bugs trap: 1 crash, 6 executions
// fixed trap: 6 executions
// bug overflow: crash
// says overflow: the stack has overflowed
// bugs overflow: 1 crash, 6 executions
// fixed overflow: 6 executions
// bug overflow_unseen: crash
// says overflow_unseen: the stack has overflowed
// bugs overflow_unseen: 1 crash, 6 executions
// fixed overflow_unseen: 6 executions
// bug endless: crash
// says endless: goes round without end
// bugs endless: 1 crash, 6 executions
// fixed endless: 6 executions
// bug endless_accesses: crash
// says endless_accesses: goes round without end
// bugs endless_accesses: 1 crash, 6 executions
// fixed endless_accesses: 6 executions
// bug blocked: crash
// says blocked: is blocked in the system call `read`
// bugs blocked: 1 crash, 6 executions
// fixed blocked: 6 executions
// bug terminated: crash
// says terminated: SIGTERM, which it has sent to itself
// bugs terminated: 1 crash, 6 executions
// fixed terminated: 6 executions
// bug pipe: crash
// says pipe: SIGPIPE
// bugs pipe: 1 crash, 6 executions
// fixed pipe: 6 executions
// bug call: crash
// says call: a segmentation fault
// bugs call: 1 crash, 6 executions
// fixed call: 6 executions
// bug abort: abort
// bugs abort: 1 abort, 6 executions
// fixed abort: 6 executions
// bug raised: abort
// bugs raised: 1 abort, 6 executions
// fixed raised: 6 executions
// bug terminate: abort
// bugs terminate: 1 abort, 6 executions
// fixed terminate: 6 executions
// bug exception: abort
// bugs exception: 1 abort, 6 executions
// fixed exception: 6 executions
// bug noexcept: abort
// bugs noexcept: 1 abort, 6 executions
// fixed noexcept: 6 executions
// bug smashed: abort
// bugs smashed: 1 abort, 6 executions
// fixed smashed: 6 executions
// bug thread_dropped: abort
// bugs thread_dropped: 1 abort, 6 executions
// fixed thread_dropped: 6 executions
// bug assertion: failed assertion
// says assertion: assertion `state == 2` failed
// bugs assertion: 1 failed assertion, 6 executions
// fixed assertion: 6 executions
// bug exit: failing exit
// says exit: 3
// bugs exit: 1 failing exit, 6 executions
// fixed exit: 6 executions
// bug _exit: failing exit
// says _exit: 4
// bugs _exit: 1 failing exit, 6 executions
// fixed _exit: 6 executions
// bug _Exit: failing exit
// says _Exit: 6
// bugs _Exit: 1 failing exit, 6 executions
// fixed _Exit: 6 executions
// bug quick_exit: failing exit
// says quick_exit: 5
// bugs quick_exit: 1 failing exit, 6 executions
// fixed quick_exit: 6 executions
// bug returned: failing exit
// says returned: 7
// bugs returned: 1 failing exit, 6 executions
// fixed returned: 6 executions
// flags: -std=c++20 -fstack-protector-all
// settings: UNPICK_HANG=200ms

// Ways to die. Each happens in one of six executions, after some of what the program keeps was changed; in the others, which come
// before and after it, everything is as it was when the process began, and they go on to their end.
#include <unpick.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

static std::atomic<int> x;
static int state = 1;
static std::string *words;
static thread_local int own = 1;
static volatile int zero;
static int *volatile pointer;

static int deep(volatile int *from) {
    volatile int here[64];
    here[0] = *from + 1;
    return deep(here) + here[0];
}

/* Without instrumentation, so that nothing but the guard of the stack tells. */
__attribute__((no_sanitize("thread"))) static int deep_unseen(volatile int *from) {
    volatile int here[64];
    here[0] = *from + 1;
    return deep_unseen(here) + here[0];
}

__attribute__((noinline)) static void smash(int much) {
    volatile char small[8];
    for (int i = 0; i < much; i++)
        small[i] = 1;
}

static void throws() { throw std::runtime_error("nobody catches it"); }
static void never_throws() noexcept { throws(); }

static void die(const std::string &how) {
    if (how == "null")
        *pointer = 1;
    if (how == "wild") {
        pointer = reinterpret_cast<int *>(0x123456789);
        *pointer = 1;
    }
    if (how == "division")
        state = 100 / zero;
    if (how == "illegal")
        __asm__ volatile("ud2");
    if (how == "trap")
        __asm__ volatile("int3");
    if (how == "bus") {
        int file = memfd_create("empty", 0);
        pointer = static_cast<int *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        *pointer = 1;
    }
    if (how == "call")
        reinterpret_cast<void (*)()>(zero + 16l)();
    volatile int start = 0;
    if (how == "overflow")
        deep(&start);
    if (how == "overflow_unseen")
        deep_unseen(&start);
    while (how == "endless")
        __asm__ volatile("");
    if (how == "endless_accesses")
        for (;;)
            zero = 0;
    int ends[2];
    if (how == "blocked" && pipe(ends) == 0) {
        char byte;
        (void)!read(ends[0], &byte, 1);
    }
    if (how == "pipe" && pipe(ends) == 0) {
        close(ends[0]);
        (void)!write(ends[1], "x", 1);
    }
    if (how == "terminated")
        raise(SIGTERM);
    if (how == "raised")
        raise(SIGABRT);
    if (how == "abort")
        std::abort();
    if (how == "terminate")
        std::terminate();
    if (how == "exception")
        throws();
    if (how == "noexcept")
        never_throws();
    if (how == "smashed")
        smash(64 + zero);
    if (how == "thread_dropped")
        std::thread([] {});
    if (how == "assertion") {
        state = 3;
        assert(state == 2);
    }
    if (how == "exit")
        std::exit(3);
    if (how == "_exit")
        _exit(4);
    if (how == "quick_exit")
        std::quick_exit(5);
    if (how == "_Exit")
        std::_Exit(6);
}

int main(int count, char **arguments) {
    if (count != 2)
        return 2;
    assert(state == 1 && !words && own == 1 && errno == 0 && !pointer && arguments[1][0] != '?');
    std::string how = arguments[1];
    state = own = errno = 2;
    words = new std::string("long enough to be on the heap, twice over");
    arguments[1][0] = '?';
    unsigned chosen = unpick_choose(3);
    std::thread other([] { x.store(1); });
    int seen = x.load();
#ifdef BUG
    if (chosen == 1 && !seen) {
        die(how);
        other.detach();
        return how == "returned" ? 7 : 0;
    }
#else
    (void)die;
    (void)chosen;
    (void)seen;
#endif
    other.join();
    delete words;
    return 0;
}
