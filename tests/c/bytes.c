// bug: data race
// bugs: 18 data race, 18 executions
// fixed: 18 executions

// Functions that copy, compare and look for bytes are plain accesses, of just the bytes that they use: another thread that writes
// one of them races, and one that writes the byte behind them does not.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unpick.h>

/* The last byte that is used, and the one behind it. */
static char text[16] = "abcabc", space[16] = "xyz";
static char *volatile used;

static void *writer(void *unused) {
    *used = *used;
    return unused;
}

static pthread_t thread;

/* Lets another thread write a byte, at any time until the end. The bug: one that the function uses. */
static void with_writer(char *byte, char *behind) {
#ifdef BUG
    used = byte;
#else
    used = behind;
#endif
    (void)byte;
    (void)behind;
    pthread_create(&thread, 0, writer, 0);
}

int main(void) {
    char *copy;
    int (*volatile equal)(const void *, const void *, size_t) = bcmp;
    switch (unpick_choose(18)) {
    case 0:
        with_writer(text + 3, text + 4);
        assert(memcpy(space, text, 4) == space && !strncmp(space, "abca", 4));
        break;
    case 1:
        with_writer(space + 3, space + 4);
        assert(memcpy(space, text, 4) == space);
        break;
    case 2:
        with_writer(text + 4, text + 5);
        assert(memmove(text + 1, text, 4) == text + 1 && text[4] == 'a');
        break;
    case 3:
        with_writer(space + 3, space + 4);
        assert(memset(space, 'q', 4) == space && space[3] == 'q');
        break;
    case 4:
        with_writer(text + 6, text + 7);
        assert(strlen(text) == 6);
        break;
    case 5:
        with_writer(space + 6, space + 7);
        assert(strcpy(space, text) == space && space[5] == 'c' && !space[6]);
        break;
    case 6:
        with_writer(space + 6, space + 7);
        assert(stpcpy(space, text) == space + 6);
        break;
    case 7:
        with_writer(space + 8, space + 9);
        assert(strncpy(space, text, 9) == space && space[5] == 'c' && !space[8]);
        break;
    case 8:
        with_writer(space + 9, space + 10);
        assert(strcat(space, text) == space && space[0] == 'x' && space[8] == 'c' && !space[9]);
        break;
    case 9:
        with_writer(space + 5, space + 6);
        assert(strncat(space, text, 2) == space && space[4] == 'b' && !space[5]);
        break;
    case 10:
        with_writer(text + 3, text + 4);
        assert(strnlen(text, 4) == 4 && strnlen("ab", 4) == 2);
        break;
    case 11:
        with_writer(text + 3, text + 4);
        assert(memcmp(text, "abcb", 6) < 0 && memcmp(text, "abca", 4) == 0);
        break;
    case 12:
        with_writer(text + 3, text + 4);
        assert(equal(text, "abcd", 6) != 0);
        break;
    case 13:
        with_writer(text + 2, text + 3);
        assert(strcmp(text, "abA") > 0);
        break;
    case 14:
        with_writer(text + 1, text + 2);
        assert(strncmp(text, "abX", 2) == 0);
        break;
    case 15:
        with_writer(text + 2, text + 3);
        assert(memchr(text, 'c', 16) == text + 2 && memchr(space, 'q', 3) == 0);
        break;
    case 16:
        with_writer(text + 2, text + 3);
        assert(strchr(text, 'c') == text + 2 && strchr(space, 'q') == 0);
        break;
    case 17:
        with_writer(text + 6, text + 7);
        assert(strrchr(text, 'c') == text + 5 && strrchr(space, 'q') == 0);
        copy = strdup(text);
        assert(copy != text && !strcmp(copy, "abcabc"));
        free(copy);
        break;
    }
    pthread_join(thread, 0);
    return 0;
}
