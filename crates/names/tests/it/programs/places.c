/* Prints where instructions are: their functions and lines, as the compiler counts them. */
#include <stddef.h>
#include <stdio.h>

extern char __executable_start;

/* The address of an instruction on this line. */
#define HERE(caller, line)                                                                     \
    do {                                                                                       \
        char *pc;                                                                              \
        __asm__ volatile("lea 0(%%rip), %0" : "=r"(pc));                                       \
        printf("%zx %s %d %s %d\n", (size_t)(pc - &__executable_start), __func__, __LINE__, caller, line); \
    } while (0)

static inline __attribute__((always_inline)) void inner(const char *caller, int line) {
    HERE(caller, line);
}

__attribute__((noinline)) static void outer(void) {
    HERE("-", 0);
    inner("outer", __LINE__);
}

int main(void) {
    HERE("-", 0);
    outer();
    inner("main", __LINE__);
    return 0;
}
