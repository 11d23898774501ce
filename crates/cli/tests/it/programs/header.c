/* What unpick.h offers, one part for each argument. */
#include <stdatomic.h>
#include <string.h>
#include <unpick.h>

static atomic_int flag, word;
static int plain;
static const char *part;

static int is(const char *name) { return strcmp(part, name) == 0; }

static void *other(void *unused) {
    if (is("await") || is("spin") || is("result")) {
        plain = 1;
        atomic_store_explicit(&flag, 1, memory_order_release);
    } else if (is("sections")) {
        unpick_atomic_begin();
        ++plain;
        unpick_atomic_end();
    } else if (is("race") || is("ignored") || is("watched")) {
        plain = 1;
    } else if (is("label")) {
        unpick_label("the word is %d", 42);
        atomic_store(&word, 1);
    }
    return unused;
}

int main(int argc, char **argv) {
    (void)argc;
    part = argv[1];
    if (is("ignored") || is("watched")) {
        unpick_ignore(&plain, sizeof plain);
    }
    if (is("watched")) {
        unpick_watch(&plain, sizeof plain);
    }
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    if (is("choose")) {
        unsigned chosen = unpick_choose(4);
        unpick_assume(chosen != 2);
        unpick_require(chosen < 4);
    } else if (is("require")) {
        unpick_require(unpick_choose(2) == 0);
    } else if (is("forbid")) {
        unpick_forbid(unpick_choose(2) == 1);
    } else if (is("await")) {
        unpick_await(atomic_load_explicit(&flag, memory_order_acquire));
        unpick_require(plain == 1);
    } else if (is("spin")) {
        for (int rounds = 0; !atomic_load_explicit(&flag, memory_order_acquire); ++rounds) {
            unpick_spin();
        }
        unpick_require(plain == 1);
    } else if (is("result")) {
        int seen = unpick_result(atomic_load_explicit(&flag, memory_order_acquire), 1);
        unpick_require(seen == 1 && plain == 1);
    } else if (is("sections")) {
        unpick_atomic_begin();
        ++plain;
        unpick_atomic_end();
    } else if (is("race") || is("ignored") || is("watched")) {
        plain = 2;
    } else if (is("label")) {
        unpick_forbid(atomic_load(&word) == 1);
    }
    pthread_join(thread, NULL);
    return 0;
}
