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
// bug large: data race
// fixed large: holds
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

/* By other names: compilers take these for their own, and replace them. */
#define LIBRARY(name, bytes) __asm__("__atomic_" #name "_" #bytes)
#define LIBRARY_VALUES(bytes, type)                                                                           \
    type load_##bytes(const volatile void *, int) LIBRARY(load, bytes);                                       \
    void store_##bytes(volatile void *, type, int) LIBRARY(store, bytes);                                     \
    type exchange_##bytes(volatile void *, type, int) LIBRARY(exchange, bytes);                               \
    _Bool cas_##bytes(volatile void *, void *, type, int, int) LIBRARY(compare_exchange, bytes);              \
    type add_##bytes(volatile void *, type, int) LIBRARY(fetch_add, bytes);                                   \
    type sub_##bytes(volatile void *, type, int) LIBRARY(fetch_sub, bytes);                                   \
    type and_##bytes(volatile void *, type, int) LIBRARY(fetch_and, bytes);                                   \
    type or_##bytes(volatile void *, type, int) LIBRARY(fetch_or, bytes);                                     \
    type xor_##bytes(volatile void *, type, int) LIBRARY(fetch_xor, bytes);                                   \
    type nand_##bytes(volatile void *, type, int) LIBRARY(fetch_nand, bytes);                                 \
    static void library_values_##bytes(void) {                                                                \
        static _Alignas(16) type x;                                                                           \
        const type top = (type)~(type)0, high = top - top / 2;                                                \
        type seen = 1, next = 3;                                                                              \
        store_##bytes(&x, top - 1, RELAXED);                                                                  \
        assert(load_##bytes(&x, ACQUIRE) == (type)(top - 1));                                                 \
        assert(add_##bytes(&x, 3, SEQ_CST) == (type)(top - 1));                                               \
        assert(sub_##bytes(&x, 2, SEQ_CST) == 1);                                                             \
        assert(and_##bytes(&x, high | 5, SEQ_CST) == top);                                                    \
        assert(or_##bytes(&x, 2, SEQ_CST) == (type)(high | 5));                                               \
        assert(xor_##bytes(&x, high | 1, SEQ_CST) == (type)(high | 7));                                       \
        assert(nand_##bytes(&x, 4, SEQ_CST) == 6);                                                            \
        assert(exchange_##bytes(&x, high, SEQ_CST) == (type)~(type)4);                                        \
        assert(!cas_##bytes(&x, &seen, 2, SEQ_CST, SEQ_CST) && seen == high);                                 \
        assert(cas_##bytes(&x, &seen, 2, SEQ_CST, SEQ_CST) && load_##bytes(&x, RELAXED) == 2);                \
        library_exchange(bytes, &x, &next, &seen, SEQ_CST);                                                   \
        assert(seen == 2 && !library_cas(bytes, &x, &seen, &next, SEQ_CST, SEQ_CST) && seen == 3);            \
        next = top;                                                                                           \
        assert(library_cas(bytes, &x, &seen, &next, SEQ_CST, SEQ_CST));                                       \
        library_load(bytes, &x, &seen, SEQ_CST);                                                              \
        library_store(bytes, &x, &high, SEQ_CST);                                                             \
        assert(seen == top && load_##bytes(&x, RELAXED) == high && library_is_lock_free(bytes, &x));          \
    }

/* Those for objects of any size. */
void library_load(size_t, const volatile void *, void *, int) __asm__("__atomic_load");
void library_store(size_t, volatile void *, const void *, int) __asm__("__atomic_store");
void library_exchange(size_t, volatile void *, void *, void *, int) __asm__("__atomic_exchange");
_Bool library_cas(size_t, volatile void *, void *, void *, int, int) __asm__("__atomic_compare_exchange");
_Bool library_is_lock_free(size_t, const volatile void *) __asm__("__atomic_is_lock_free");

LIBRARY_VALUES(1, unsigned char)
LIBRARY_VALUES(2, unsigned short)
LIBRARY_VALUES(4, unsigned)
LIBRARY_VALUES(8, unsigned long)
LIBRARY_VALUES(16, unsigned __int128)

struct large {
    long parts[3];
};

static struct large object;

static void values_of_large_objects(void) {
    struct large one = {{1, 2, 3}}, two = {{4, 5, 6}}, seen = {{0}};
    assert(!library_is_lock_free(sizeof object, &object));
    library_store(sizeof object, &object, &one, SEQ_CST);
    library_exchange(sizeof object, &object, &two, &seen, SEQ_CST);
    assert(!memcmp(&seen, &one, sizeof one));
    assert(!library_cas(sizeof object, &object, &seen, &one, SEQ_CST, SEQ_CST));
    assert(!memcmp(&seen, &two, sizeof two));
    assert(library_cas(sizeof object, &object, &seen, &one, SEQ_CST, SEQ_CST));
    library_load(sizeof object, &object, &seen, SEQ_CST);
#ifdef BUG
    assert(seen.parts[2] == 6);
#else
    assert(seen.parts[2] == 3);
#endif
}

static void *adds_to_large(void *unused) {
    struct large old, new;
    library_load(sizeof object, &object, &old, SEQ_CST);
    do {
        new = old;
        for (int i = 0; i < 3; i++)
            new.parts[i]++;
    } while (!library_cas(sizeof object, &object, &old, &new, SEQ_CST, SEQ_CST));
    return unused;
}

/* All of an object changes at once; a plain access to a part of it races. */
static void large(void) {
    pthread_t thread;
    struct large seen;
    pthread_create(&thread, 0, adds_to_large, 0);
#ifdef BUG
    object.parts[1]++;
#else
    adds_to_large(0);
#endif
    library_load(sizeof object, &object, &seen, RELAXED);
    assert(seen.parts[0] == seen.parts[2]);
    pthread_join(thread, 0);
    assert(object.parts[1] == 2);
}

static void values(void) {
    values8();
    values16();
    values32();
    values64();
    values128();
    library_values_1();
    library_values_2();
    library_values_4();
    library_values_8();
    library_values_16();
    values_of_large_objects();
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

CASES({"values", values}, {"large", large}, {"fences", fences}, {"order8", order8}, {"order16", order16}, {"order32", order32}, {"order64", order64}, {"order128", order128})
