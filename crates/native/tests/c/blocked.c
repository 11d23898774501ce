// bug: crash
// fixed: 2 executions
// says: is blocked in the system call `read`
// settings: UNPICK_HANG=300ms
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int x;
static int ends[2];
static void *wait_for_byte(void *unused) {
    char byte;
#ifdef BUG
    if (atomic_load(&x))
#else
    if (atomic_load(&x) && write(ends[1], "", 1) == 1)
#endif
        read(ends[0], &byte, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    if (pipe(ends))
        return 1;
    pthread_create(&thread, 0, wait_for_byte, 0);
    atomic_store(&x, 1);
    pthread_join(thread, 0);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
