// bug: use of uninitialised memory
// fixed: 2 executions
// settings: UNPICK_UNINITIALISED=1
// says: memory is read that nothing was written to
// says: a block of 24 bytes that was allocated by main at
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// One member is set in only one of the executions.
struct node {
    int value, other;
    char name[16];
};
static atomic_int set;
static struct node *node;
static void *work(void *unused) {
    atomic_store(&set, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    node = malloc(sizeof *node);
    // The C library writes unseen, and what it writes is written.
    snprintf(node->name, sizeof node->name, "node%d", 1);
    assert(node->name[4] == '1');
    pthread_create(&thread, 0, work, 0);
    int seen = atomic_load(&set);
#ifdef BUG
    if (seen)
#endif
        node->value = seen;
    struct node copy = *node;
    assert(memcmp(copy.name, node->name, 6) == 0);
    assert(node->value == seen);
    // What `calloc` returns is zero, and what `realloc` keeps is kept.
    int *numbers = calloc(4, sizeof *numbers);
    assert(numbers[2] == 0);
    numbers = realloc(numbers, 64);
    assert(numbers[3] == 0);
    free(numbers);
    pthread_join(thread, 0);
    free(node);
    return 0;
}
