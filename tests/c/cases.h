/* Programs of several cases: the argument names the one to run. */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named_case {
    const char *name;
    void (*run)(void);
};

#define CASES(...)                                                    \
    int main(int count, char **arguments) {                           \
        static const struct named_case cases[] = {__VA_ARGS__};       \
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) { \
            if (count == 2 && !strcmp(arguments[1], cases[i].name)) { \
                cases[i].run();                                       \
                return 0;                                             \
            }                                                         \
        }                                                             \
        return 2;                                                     \
    }

#endif
