/*
 * unpick for C and C++: what a program can tell the checker, and ask of it.
 *
 * Nothing here is needed to check a program. `unpick cc` and `unpick c++` find this header by themselves.
 *
 * A program that uses it can also be built without unpick, and run without `unpick run`. It is then an ordinary program:
 * unpick_assume ends it quietly if the condition is false, unpick_choose gives 0, unpick_require and unpick_forbid
 * print what is wrong and abort, and the rest does nothing.
 *
 *   unpick_assume(condition)             executions where the condition is false are of no interest: this one ends here
 *   unpick_choose(bound)                 any of 0 ... bound - 1; all of them are explored
 *   unpick_label(format, ...)            a line in the report, formatted as printf does
 *   unpick_require(condition)            a violation if the condition is false; NDEBUG does not turn it off
 *   unpick_forbid(condition)             a violation if the condition is true
 *   unpick_await(condition)              waits until the condition is true; it should read memory and change nothing
 *   unpick_result(expression, accepted)  the value of an operation that must give this one: executions where it does
 *                                        not are of no interest
 *   unpick_spin()                        in a loop that waits: nothing was achieved since the last call here, so other
 *                                        threads move first; for loops that count or back off, which are not
 *                                        recognised without it
 *   unpick_atomic_begin(), _end()        around a section: no two sections run at the same time; they do not nest. Code of
 *                                        other threads that is in no section may run in between
 *   unpick_ignore(start, size)           plain accesses to these bytes are not looked at for races
 *   unpick_watch(start, size)            they are looked at again
 *   unpick_exploring()                   whether the program is being explored
 */
#ifndef UNPICK_H
#define UNPICK_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the runtime defines. The references are weak, so that a program also links without it.
 */
#define UNPICK_RUNTIME __attribute__((weak, nothrow))

/* 1 while executions are explored, 0 in an ordinary run. */
extern int __unpick_exploring(void) UNPICK_RUNTIME;
/* 0: the execution is blocked here for good. */
extern void __unpick_assume(int condition) UNPICK_RUNTIME;
/* A number below the bound, which is at least 1. */
extern unsigned __unpick_choose(unsigned bound) UNPICK_RUNTIME;
/* A step of the report. The text is copied. */
extern void __unpick_label(const char *text) UNPICK_RUNTIME;
/* A violation: a requirement that is not met. Does not return while executions are explored. */
extern void __unpick_fail(const char *text, const char *file, unsigned line) UNPICK_RUNTIME;
/* The thread waits until another one has written something that it has read since its last call. */
extern void __unpick_spin(void) UNPICK_RUNTIME;
/* Bytes whose plain accesses are not looked at, and are again. */
extern void __unpick_ignore(const volatile void *start, size_t size) UNPICK_RUNTIME;
extern void __unpick_watch(const volatile void *start, size_t size) UNPICK_RUNTIME;
/* A heap block that is given up now and freed when nobody can use it: no leak, and no use after free. */
extern void __unpick_retire(void *block) UNPICK_RUNTIME;

__attribute__((unused)) static inline void unpick_fail_(const char *text, const char *file, unsigned line) {
    if (__unpick_fail && __unpick_exploring && __unpick_exploring()) {
        __unpick_fail(text, file, line);
    }
    fprintf(stderr, "%s:%u: %s\n", file, line, text);
    abort();
}

/* Outside of an exploration nobody can take the assumption back. */
__attribute__((unused)) static inline void unpick_leave_(void) { exit(0); }

/* One for the whole program: each file that includes this defines it, and the linker keeps one. */
__attribute__((weak)) pthread_mutex_t unpick_sections_ = PTHREAD_MUTEX_INITIALIZER;

/* A macro, so that nothing is formatted in a function that the report would have to skip. */
#define UNPICK_LABEL_SIZE 256

#ifdef __cplusplus
}
#endif

#define unpick_exploring() (__unpick_exploring ? __unpick_exploring() : 0)
#define unpick_assume(condition) \
    ((condition) ? (void)0 : unpick_exploring() ? __unpick_assume(0) : unpick_leave_())
#define unpick_choose(bound) (unpick_exploring() ? __unpick_choose(bound) : ((void)(bound), 0u))
#define unpick_label(...)                                            \
    do {                                                             \
        if (unpick_exploring()) {                                    \
            char unpick_text_[UNPICK_LABEL_SIZE];                    \
            snprintf(unpick_text_, sizeof unpick_text_, __VA_ARGS__); \
            __unpick_label(unpick_text_);                            \
        }                                                            \
    } while (0)
#define unpick_require(condition) \
    ((condition) ? (void)0 : unpick_fail_("required: " #condition, __FILE__, __LINE__))
#define unpick_forbid(condition) \
    ((condition) ? unpick_fail_("forbidden: " #condition, __FILE__, __LINE__) : (void)0)
#define unpick_spin() (unpick_exploring() ? __unpick_spin() : (void)0)
#define unpick_await(condition) \
    do {                        \
        while (!(condition)) {  \
            unpick_spin();      \
        }                       \
    } while (0)
#ifdef __cplusplus
#define unpick_result(expression, accepted)                \
    (__extension__({                                       \
        auto unpick_value_ = (expression);                 \
        unpick_assume(unpick_value_ == (accepted));        \
        unpick_value_;                                     \
    }))
#else
#define unpick_result(expression, accepted)                \
    (__extension__({                                       \
        __auto_type unpick_value_ = (expression);          \
        unpick_assume(unpick_value_ == (accepted));        \
        unpick_value_;                                     \
    }))
#endif
#define unpick_atomic_begin() ((void)pthread_mutex_lock(&unpick_sections_))
#define unpick_atomic_end() ((void)pthread_mutex_unlock(&unpick_sections_))
#define unpick_ignore(start, size) (unpick_exploring() ? __unpick_ignore(start, size) : (void)0)
#define unpick_watch(start, size) (unpick_exploring() ? __unpick_watch(start, size) : (void)0)

#endif
