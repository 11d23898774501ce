// refused fork: `fork` cannot be checked
// refused vfork: `vfork` cannot be checked
// refused system: `system` cannot be checked
// refused popen: `popen` cannot be checked
// refused dlopen: `dlopen` in `main` cannot be checked
// refused sem_open: `sem_open` cannot be checked
// refused pthread_cancel: `pthread_cancel` cannot be checked
// refused consistent: robust mutexes cannot be checked
// refused robust: robust mutexes and mutexes with priorities cannot be checked
// refused priorities: robust mutexes and mutexes with priorities cannot be checked
// refused pthread_kill: `pthread_kill` cannot be checked
// refused tryjoin: `pthread_tryjoin_np` cannot be checked
// refused timedjoin: `pthread_timedjoin_np` cannot be checked
// refused futex: operation 4 of the system call `futex` cannot be checked

// What cannot be checked is said when a program tries.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cases.h"

static pthread_mutex_t mutex;
static int word;

static void with_attributes(int robust) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (robust)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    else
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
}

static void robust(void) { with_attributes(1); }
static void priorities(void) { with_attributes(0); }
static void consistent(void) { pthread_mutex_consistent(&mutex); }
static void forks(void) { fork(); }
static void vforks(void) {
    if (vfork() == 0)
        _exit(0);
}
static void commands(void) {
    if (system("true"))
        _exit(1);
}
static void pipes(void) { popen("true", "r"); }
static void loads(void) { dlopen("libm.so.6", RTLD_NOW); }
static void named(void) { sem_open("/unpick", O_CREAT, 0600, 1); }
static void cancels(void) { pthread_cancel(pthread_self()); }
static void kills(void) { pthread_kill(pthread_self(), SIGUSR1); }
static void try_joins(void) { pthread_tryjoin_np(pthread_self(), 0); }
static void timed_joins(void) {
    struct timespec time = {0, 0};
    pthread_timedjoin_np(pthread_self(), 0, &time);
}
static void requeues(void) { syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &word, 0); }

CASES({"fork", forks}, {"vfork", vforks}, {"system", commands}, {"popen", pipes}, {"dlopen", loads},
      {"sem_open", named}, {"pthread_cancel", cancels}, {"consistent", consistent}, {"robust", robust},
      {"priorities", priorities}, {"pthread_kill", kills}, {"tryjoin", try_joins}, {"timedjoin", timed_joins},
      {"futex", requeues})
