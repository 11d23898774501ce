// bug: use of an unpublished object
// fixed: 2 executions
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node {
    atomic_int value;
};
static _Atomic(struct node *) head;
#ifdef BUG
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_release
#endif
static void *producer(void *unused) {
    struct node *node = malloc(sizeof *node);
    atomic_store_explicit(&node->value, 1, memory_order_relaxed);
    atomic_store_explicit(&head, node, ORDER);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, producer, 0);
    struct node *node = atomic_load_explicit(&head, memory_order_acquire);
    if (node)
        atomic_load_explicit(&node->value, memory_order_relaxed);
    pthread_join(thread, 0);
    free(atomic_load(&head));
    return 0;
}
