#include <stdio.h>

static int word;

struct wide {
    long a, b, c;
};
static _Atomic struct wide wide;

static int locked(void) {
    int one = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(one), "+m"(word));
    return one;
}

static int exchanged(void) {
    int one = 1;
    __asm__ volatile("xchgl %0, %1" : "+r"(one), "+m"(word));
    return one;
}

static void fenced(void) {
    __asm__ volatile("mfence" ::: "memory");
}

static long loaded(void) {
    struct wide copy = wide;
    return copy.a;
}

int main(void) {
    fenced();
    printf("%d %d %ld\n", locked(), exchanged(), loaded());
    return 0;
}
