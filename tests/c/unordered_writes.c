// warns: are not ordered by happens-before, and either may be the last
// fixed: 2 executions
// settings: UNPICK_UNORDERED_WRITES=1
#include <pthread.h>
#include <stdatomic.h>
// Two threads store to one variable; with a compare-and-exchange each builds on what is there.
// Not static: compilers would see that nobody reads it, and leave out the writes.
atomic_int last, count;
static void set(int value) {
#ifdef BUG
    atomic_store(&last, value);
#else
    int seen = 0;
    if (atomic_compare_exchange_strong(&last, &seen, value))
        return;
#endif
    atomic_fetch_add(&count, 1);
}
static void *work(void *unused) {
    set(1);
    return unused;
}
int main(void) {
    pthread_t thread;
    atomic_store(&last, 0);
    pthread_create(&thread, 0, work, 0);
    set(2);
    pthread_join(thread, 0);
    atomic_store(&last, 0);
    return 0;
}
