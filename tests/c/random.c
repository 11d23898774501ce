// bug: failed assertion
// fixed: 4 executions

// Random numbers are different for each thread and call, and the same in each execution: what is stored here is compared when the
// execution is repeated.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic unsigned long shared;

static void *draw(void *number) {
    unsigned char bytes[13] = {0}, more[13] = {0};
    unsigned long word = 0;
    assert(getrandom(bytes, sizeof bytes - 1, 0) == sizeof bytes - 1);
    assert(bytes[12] == 0);
    assert(getentropy(more, sizeof more) == 0);
    assert(memcmp(bytes, more, 12) != 0);
    assert(syscall(SYS_getrandom, &word, sizeof word, 0) == sizeof word && word);
    memcpy(number, bytes, 8);
    atomic_fetch_add(&shared, *(unsigned long *)number ^ word ^ arc4random());
    return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int drawn[2];

static void *draw_once(void *place) {
    pthread_mutex_lock(&mutex);
    *(int *)place = rand();
    pthread_mutex_unlock(&mutex);
    return 0;
}

/* Whoever comes first, each thread gets what it gets. */
static void numbers(void) {
    pthread_t thread;
    srand(7);
    srandom(7);
    srand48(7);
    assert(rand() != rand() && random() != random() && lrand48() != lrand48() && mrand48() != mrand48());
    double one = drand48(), two = drand48();
    assert(0 <= one && one < 1 && 0 <= two && two < 1 && one != two);
    long numbers[4] = {rand(), random(), lrand48(), mrand48()};
    for (int i = 0; i < 3; i++)
        assert(numbers[i] >= 0 && numbers[i] <= RAND_MAX);
    srand(7);
    int first = rand(), second = rand();
    srand(7);
    assert(rand() == first && rand() == second);
    srand(8);
    assert(rand() != first);
    srand(7);
    pthread_create(&thread, 0, draw_once, &drawn[1]);
    draw_once(&drawn[0]);
    pthread_join(thread, 0);
    assert(drawn[0] == first && drawn[1] != first && drawn[1] != second);
}

int main(void) {
    pthread_t thread;
    unsigned long own, other;
    numbers();
    pthread_create(&thread, 0, draw, &other);
    draw(&own);
    pthread_join(thread, 0);
    assert(own != other);
#ifdef BUG
    assert(atomic_load(&shared) == 0);
#endif
    return 0;
}
