// bug signal: crash
// fixed signal: 2 executions
// says signal: the process is ended by signal 24
// bug call: crash
// fixed call: 2 executions
// says call: the process is ended with code 3, by a system call

// Ways for a process to end that the runtime does not come to know of: the execution is run again in a process of its own.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cases.h"

static atomic_int x;

static void *set(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void end_if_seen(void (*end)(void)) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    int seen = atomic_load(&x);
#ifdef BUG
    if (seen)
        end();
#else
    (void)seen;
    (void)end;
#endif
    pthread_join(thread, 0);
}

static void raise_signal(void) { raise(SIGXCPU); }
static void by_signal(void) { end_if_seen(raise_signal); }

static void leave(void) { syscall(SYS_exit_group, 3); }
static void by_call(void) { end_if_seen(leave); }

CASES({"signal", by_signal}, {"call", by_call})
