// bug assume: failed assertion
// says assume: is reached
// fixed assume: 1 executions, 1 blocked
// bug sections: failed assertion
// fixed sections: 2 executions
// bug any: failed assertion
// fixed any: 2 executions

// Functions that programs declare by themselves, and leave to the tool.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "cases.h"

extern void __VERIFIER_assume(int condition);
extern void __VERIFIER_error(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern bool __VERIFIER_nondet_bool(void);
extern signed char __VERIFIER_nondet_char(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern long __VERIFIER_nondet_long(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern long long __VERIFIER_nondet_longlong(void);
extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern size_t __VERIFIER_nondet_size_t(void);

static atomic_int x;

static void *sets(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void assume(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sets, 0);
    __VERIFIER_assume(atomic_load(&x) == 1);
#ifdef BUG
    __VERIFIER_error();
#endif
    pthread_join(thread, 0);
}

static void *adds(void *unused) {
#ifndef BUG
    __VERIFIER_atomic_begin();
#endif
    atomic_store(&x, atomic_load(&x) + 1);
#ifndef BUG
    __VERIFIER_atomic_end();
#endif
    return unused;
}

static void sections(void) {
    pthread_t thread;
    pthread_create(&thread, 0, adds, 0);
    adds(0);
    pthread_join(thread, 0);
    assert(atomic_load(&x) == 2);
}

/* The same in each execution, and not the same each time; both values if there are only two. */
static void any(void) {
    long sum = __VERIFIER_nondet_char() + __VERIFIER_nondet_uchar() + __VERIFIER_nondet_short();
    sum += __VERIFIER_nondet_ushort() + (long)__VERIFIER_nondet_uint();
    assert(__VERIFIER_nondet_int() != __VERIFIER_nondet_int());
    assert(__VERIFIER_nondet_long() != (long)__VERIFIER_nondet_ulong());
    assert((unsigned long long)__VERIFIER_nondet_longlong() != __VERIFIER_nondet_ulonglong());
    assert(__VERIFIER_nondet_size_t() != (size_t)sum);
#ifdef BUG
    assert(__VERIFIER_nondet_bool());
#else
    (void)__VERIFIER_nondet_bool();
#endif
}

CASES({"assume", assume}, {"sections", sections}, {"any", any})
