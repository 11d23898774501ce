// bug: data race
// fixed: 2 executions
// says: are not ordered by happens-before
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static int data;
#ifdef BUG
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_release
#endif
static void *writer(void *unused) {
    data = 42;
    atomic_store_explicit(&flag, 1, ORDER);
    return unused;
}
static void *reader(void *unused) {
    if (atomic_load_explicit(&flag, memory_order_acquire))
        return data == 42 ? unused : (void *)1;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
