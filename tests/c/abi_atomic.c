// bug values: failed assertion
// fixed values: 1 executions
// bug order8: data race
// fixed order8: 6 executions
// bug order16: data race
// fixed order16: 6 executions
// bug order32: data race
// fixed order32: 6 executions
// bug order64: data race
// fixed order64: 6 executions
// bug order128: data race
// fixed order128: 6 executions
// bug fences: data race
// fixed fences: 3 executions

// What compilers call for atomic accesses, of all widths: what they give, and that they order what comes before and after. The
// functions that compilers call in a library for sixteen bytes are the same.
#include <assert.h>
#include <pthread.h>
#include "cases.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

#define DECLARE(bits, type)                                                                      \
    type __tsan_atomic##bits##_load(const volatile type *, int);                                 \
    void __tsan_atomic##bits##_store(volatile type *, type, int);                                \
    type __tsan_atomic##bits##_exchange(volatile type *, type, int);                             \
    type __tsan_atomic##bits##_fetch_add(volatile type *, type, int);                            \
    type __tsan_atomic##bits##_fetch_sub(volatile type *, type, int);                            \
    type __tsan_atomic##bits##_fetch_and(volatile type *, type, int);                            \
    type __tsan_atomic##bits##_fetch_or(volatile type *, type, int);                             \
    type __tsan_atomic##bits##_fetch_xor(volatile type *, type, int);                            \
    type __tsan_atomic##bits##_fetch_nand(volatile type *, type, int);                           \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *, type *, type, int, int);  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *, type *, type, int, int);    \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *, type, type, int, int);

/* The values: near the top of the type, so that a narrower or a wider computation shows. */
#define VALUES(bits, type)                                                                       \
    static void values##bits(void) {                                                             \
        static _Alignas(16) volatile type x;                                                     \
        const type top = (type)~(type)0, high = top - top / 2;                                   \
        type seen = 1;                                                                           \
        __tsan_atomic##bits##_store(&x, top - 1, RELAXED);                                       \
        assert(__tsan_atomic##bits##_load(&x, ACQUIRE) == (type)(top - 1));                      \
        assert(__tsan_atomic##bits##_fetch_add(&x, 3, SEQ_CST) == (type)(top - 1));              \
        assert(__tsan_atomic##bits##_fetch_sub(&x, 2, ACQ_REL) == 1);                            \
        assert(__tsan_atomic##bits##_fetch_and(&x, high | 5, RELEASE) == top);                   \
        assert(__tsan_atomic##bits##_fetch_or(&x, 2, CONSUME) == (type)(high | 5));              \
        assert(__tsan_atomic##bits##_fetch_xor(&x, high | 1, RELAXED) == (type)(high | 7));      \
        assert(__tsan_atomic##bits##_fetch_nand(&x, 4, SEQ_CST) == 6);                           \
        assert(__tsan_atomic##bits##_exchange(&x, high, SEQ_CST) == (type)~(type)4);             \
        assert(!__tsan_atomic##bits##_compare_exchange_strong(&x, &seen, 2, SEQ_CST, RELAXED));  \
        assert(seen == high);                                                                    \
        assert(__tsan_atomic##bits##_compare_exchange_strong(&x, &seen, 2, SEQ_CST, RELAXED));   \
        assert(!__tsan_atomic##bits##_compare_exchange_weak(&x, &seen, 3, ACQ_REL, ACQUIRE));    \
        assert(seen == 2);                                                                       \
        assert(__tsan_atomic##bits##_compare_exchange_weak(&x, &seen, 3, ACQ_REL, ACQUIRE));     \
        assert(__tsan_atomic##bits##_compare_exchange_val(&x, 2, 4, SEQ_CST, SEQ_CST) == 3);     \
        assert(__tsan_atomic##bits##_compare_exchange_val(&x, 3, top, SEQ_CST, SEQ_CST) == 3);   \
        assert(x == top);                                                                        \
    }

static int data;

#ifdef BUG
#define ORDER(order) RELAXED
#else
#define ORDER(order) order
#endif

/* A chain of three threads' accesses: each sees the one before, or does not touch the data. */
#define ORDERS(bits, type)                                                                       \
    static _Alignas(16) volatile type flag##bits;                                                \
    static void *sender##bits(void *unused) {                                                    \
        data = 1;                                                                                \
        __tsan_atomic##bits##_store(&flag##bits, 1, ORDER(RELEASE));                             \
        return unused;                                                                           \
    }                                                                                            \
    static void *middle##bits(void *unused) {                                                    \
        type seen = 1;                                                                           \
        __tsan_atomic##bits##_compare_exchange_strong(&flag##bits, &seen, 2, RELAXED, RELAXED);  \
        return unused;                                                                           \
    }                                                                                            \
    static void order##bits(void) {                                                              \
        pthread_t one, two;                                                                      \
        pthread_create(&one, 0, sender##bits, 0);                                                \
        pthread_join(one, 0);                                                                    \
        data = 0;                                                                                \
        flag##bits = 0;                                                                          \
        pthread_create(&one, 0, sender##bits, 0);                                                \
        pthread_create(&two, 0, middle##bits, 0);                                                \
        if (__tsan_atomic##bits##_exchange(&flag##bits, 4, ORDER(ACQUIRE)))                      \
            assert(data == 1);                                                                   \
        pthread_join(one, 0);                                                                    \
        pthread_join(two, 0);                                                                    \
    }

DECLARE(8, unsigned char)
DECLARE(16, unsigned short)
DECLARE(32, unsigned)
DECLARE(64, unsigned long)
DECLARE(128, unsigned __int128)
VALUES(8, unsigned char)
VALUES(16, unsigned short)
VALUES(32, unsigned)
VALUES(64, unsigned long)
VALUES(128, unsigned __int128)
ORDERS(8, unsigned char)
ORDERS(16, unsigned short)
ORDERS(32, unsigned)
ORDERS(64, unsigned long)
ORDERS(128, unsigned __int128)

typedef unsigned __int128 wide;
/* By other names: compilers take these for their own, and replace them. */
#define LIBRARY(name) __asm__("__atomic_" #name "_16")
wide library_load(const volatile void *, int) LIBRARY(load);
void library_store(volatile void *, wide, int) LIBRARY(store);
wide library_exchange(volatile void *, wide, int) LIBRARY(exchange);
_Bool library_compare_exchange(volatile void *, void *, wide, int, int) LIBRARY(compare_exchange);
wide library_fetch_add(volatile void *, wide, int) LIBRARY(fetch_add);
wide library_fetch_sub(volatile void *, wide, int) LIBRARY(fetch_sub);
wide library_fetch_and(volatile void *, wide, int) LIBRARY(fetch_and);
wide library_fetch_or(volatile void *, wide, int) LIBRARY(fetch_or);
wide library_fetch_xor(volatile void *, wide, int) LIBRARY(fetch_xor);
wide library_fetch_nand(volatile void *, wide, int) LIBRARY(fetch_nand);

static void values_of_library(void) {
    static wide x;
    const wide top = ~(wide)0, high = (wide)1 << 127;
    wide seen = 1;
    library_store(&x, top - 1, RELAXED);
    assert(library_load(&x, ACQUIRE) == top - 1);
    assert(library_fetch_add(&x, 3, SEQ_CST) == top - 1);
    assert(library_fetch_sub(&x, 2, SEQ_CST) == 1);
    assert(library_fetch_and(&x, high | 5, SEQ_CST) == top);
    assert(library_fetch_or(&x, 2, SEQ_CST) == (high | 5));
    assert(library_fetch_xor(&x, high | 1, SEQ_CST) == (high | 7));
    assert(library_fetch_nand(&x, 4, SEQ_CST) == 6);
    assert(library_exchange(&x, high, SEQ_CST) == ~(wide)4);
    assert(!library_compare_exchange(&x, &seen, 2, SEQ_CST, SEQ_CST) && seen == high);
    assert(library_compare_exchange(&x, &seen, 2, SEQ_CST, SEQ_CST));
#ifdef BUG
    assert(library_load(&x, SEQ_CST) == 3);
#else
    assert(library_load(&x, SEQ_CST) == 2);
#endif
}

static void values(void) {
    values8();
    values16();
    values32();
    values64();
    values128();
    values_of_library();
}

void __tsan_atomic_thread_fence(int);
void __tsan_atomic_signal_fence(int);

static volatile unsigned flag;

/* A fence for threads orders; one for signal handlers does not. */
static void fence(int order) {
#ifdef BUG
    __tsan_atomic_signal_fence(order);
#else
    __tsan_atomic_thread_fence(order);
#endif
}

static void *fenced(void *unused) {
    data = 1;
    fence(RELEASE);
    __tsan_atomic32_store(&flag, 1, RELAXED);
    return unused;
}

static void fences(void) {
    pthread_t thread;
    pthread_create(&thread, 0, fenced, 0);
    unsigned seen = __tsan_atomic32_load(&flag, RELAXED);
    if (!seen)
        seen = __tsan_atomic32_load(&flag, RELAXED);
    fence(ACQUIRE);
    if (seen)
        assert(data == 1);
    pthread_join(thread, 0);
}

CASES({"values", values}, {"fences", fences}, {"order8", order8}, {"order16", order16}, {"order32", order32}, {"order64", order64}, {"order128", order128})
