/* Programs with waiting loops: the arguments are a number, a form, and how many rounds a loop has in the bounded one. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unpick.h>

#define ALWAYS static inline __attribute__((always_inline, unused))

unsigned unseen_get(unsigned cell);
void unseen_set(unsigned cell, unsigned number);

/* Others may know the address from now on. */
__attribute__((noinline, unused)) static void escape(void *block) { __asm__ volatile("" : : "r"(block) : "memory"); }

/* Exchanges a number for another one; the one that was there. */
#define EXCHANGE(variable, from, to, order)                                                                   \
    ({                                                                                                        \
        unsigned expected = (from);                                                                           \
        atomic_compare_exchange_strong_explicit((variable), &expected, (to), (order), memory_order_relaxed);  \
        expected;                                                                                             \
    })

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

ALWAYS unsigned look(unsigned *locked) {
    pthread_mutex_lock(&mutex);
    unsigned number = *locked;
    pthread_mutex_unlock(&mutex);
    return number;
}

ALWAYS unsigned try_look(unsigned *locked) {
    if (pthread_mutex_trylock(&mutex))
        return 9;
    unsigned number = *locked;
    pthread_mutex_unlock(&mutex);
    return number;
}

ALWAYS void locked_store(unsigned *locked, unsigned number) {
    pthread_mutex_lock(&mutex);
    *locked = number;
    pthread_mutex_unlock(&mutex);
}

ALWAYS void temporary(unsigned count, unsigned number) {
    unsigned *block = malloc(count * sizeof *block);
    *block = number;
    escape(block);
    free(block);
}

/* The first random number after each of some seeds tells the seed. */
static int seeds[16];

__attribute__((unused)) static unsigned random_get(void) {
    int drawn = rand();
    for (unsigned seed = 0; seed < 16; seed++) {
        if (seeds[seed] == drawn) {
            srand(seed);
            return seed;
        }
    }
    abort();
}

static unsigned rounds_to_spend, asks_for_endless;
/* The loops that were given up, each written by one thread. */
static unsigned char given_up[8];

ALWAYS unsigned rounds(void) { return rounds_to_spend; }

ALWAYS void out_of_rounds(unsigned wait) { given_up[wait] = 1; }

ALWAYS unsigned wait_is_over(unsigned wait, int now) {
    return now && given_up[wait];
}

ALWAYS void end_of_waits(unsigned over) {
    unsigned waits = 0;
    for (unsigned wait = 0; wait < 8; wait++)
        waits += given_up[wait];
    assert(!asks_for_endless || !waits || over);
    unpick_assume(!waits);
}

#define REQUIRE(condition)            \
    do {                              \
        if (asks_for_endless)                \
            unpick_assume(condition); \
        else                          \
            assert(condition);        \
    } while (0)

static int explore(void (*const programs[][2])(void), char **arguments) {
    for (unsigned seed = 0; seed < 16; seed++) {
        srand(seed);
        seeds[seed] = rand();
    }
    rounds_to_spend = atoi(arguments[3]);
    asks_for_endless = !strcmp(arguments[2], "endless");
    programs[atoi(arguments[1])][strcmp(arguments[2], "real") != 0]();
    return 0;
}
