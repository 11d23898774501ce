// bug: deadlock
// fixed: 5 executions
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;
static void *waker(void *unused) {
    atomic_store(&word, 1);
#ifndef BUG
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waker, 0);
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    pthread_join(thread, 0);
    return 0;
}
