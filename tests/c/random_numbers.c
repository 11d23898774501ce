// bug: failed assertion
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
// Each thread has numbers of its own, whatever the others do, and a seed brings them back.
static atomic_int x;
static void *draw(void *unused) {
    int first = rand();
    atomic_fetch_add(&x, 1);
    assert(first >= 0 && rand() != first);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, draw, 0);
    srand(3);
    int first = rand(), second = rand();
    atomic_fetch_add(&x, 1);
    srand(3);
    assert(rand() == first && rand() == second);
    srand(4);
    int other = rand();
    assert(other != first);
    double fraction = drand48();
    assert(fraction >= 0 && fraction < 1 && random() >= 0 && lrand48() >= 0);
    pthread_join(thread, 0);
#ifdef BUG
    assert(other == first);
#endif
    return 0;
}
