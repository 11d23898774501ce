/*
 * Programs that were written for GenMC, with unpick: the names of its header.
 *
 * What is different:
 *
 *   - Threads that are spawned as symmetric are ordinary threads, so there are more executions, by permutations of them.
 *   - Marks that only make GenMC faster (local and final writes, helping, speculative and confirming operations) have no
 *     effect.
 *   - The block of __VERIFIER_optional is left out.
 *   - Blocks that are retired are not freed within an execution.
 *   - Storage that outlives a crash, and the synchronisation of the Linux kernel, are not supported: programs that use
 *     __VERIFIER_palloc, __VERIFIER_rcu_read_lock and what goes with them are refused by the compiler.
 */
#ifndef UNPICK_GENMC_H
#define UNPICK_GENMC_H

#include <pthread.h>
#include <stdbool.h>

#include "unpick.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UNPICK_GENMC static inline __attribute__((unused))

UNPICK_GENMC void __VERIFIER_assume(int condition) { unpick_assume(condition); }

/* As with GenMC: numbers that look random, and are the same for a thread in each execution. */
static __thread unsigned long long unpick_nondet_state_;

UNPICK_GENMC unsigned unpick_nondet_(void) {
    unpick_nondet_state_ = unpick_nondet_state_ * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(unpick_nondet_state_ >> 33);
}

UNPICK_GENMC int __VERIFIER_nondet_int(void) { return (int)(unpick_nondet_() << 1 ^ unpick_nondet_()); }
UNPICK_GENMC unsigned __VERIFIER_nondet_uint(void) { return (unsigned)__VERIFIER_nondet_int(); }
UNPICK_GENMC short __VERIFIER_nondet_short(void) { return (short)__VERIFIER_nondet_int(); }
UNPICK_GENMC unsigned short __VERIFIER_nondet_ushort(void) { return (unsigned short)__VERIFIER_nondet_int(); }
UNPICK_GENMC char __VERIFIER_nondet_char(void) { return (char)__VERIFIER_nondet_int(); }
UNPICK_GENMC unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)__VERIFIER_nondet_int(); }
UNPICK_GENMC unsigned long __VERIFIER_nondet_ulong(void) {
    return (unsigned long)__VERIFIER_nondet_uint() << 32 | __VERIFIER_nondet_uint();
}
UNPICK_GENMC long __VERIFIER_nondet_long(void) { return (long)__VERIFIER_nondet_ulong(); }
/* Two values are few enough to explore both. */
UNPICK_GENMC bool __VERIFIER_nondet_bool(void) { return unpick_choose(2) != 0; }

typedef pthread_t __VERIFIER_thread_t;

UNPICK_GENMC __VERIFIER_thread_t __VERIFIER_spawn(void *(*start)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, argument) != 0) {
        abort();
    }
    return thread;
}
UNPICK_GENMC __VERIFIER_thread_t __VERIFIER_spawn_symmetric(void *(*start)(void *), void *argument,
                                                            __VERIFIER_thread_t like) {
    (void)like;
    return __VERIFIER_spawn(start, argument);
}
UNPICK_GENMC void *__VERIFIER_join(__VERIFIER_thread_t thread) {
    void *result = NULL;
    pthread_join(thread, &result);
    return result;
}
UNPICK_GENMC void __VERIFIER_join_symmetric(__VERIFIER_thread_t thread) { __VERIFIER_join(thread); }

UNPICK_GENMC void __VERIFIER_loop_begin(void) {}
UNPICK_GENMC void __VERIFIER_spin_start(void) {}
UNPICK_GENMC void __VERIFIER_spin_end(int condition) {
    if (!condition) {
        unpick_spin();
    }
}

/* What is not supported. */
#define UNPICK_GENMC_REFUSED(what) __attribute__((error("unpick does not support " what)))

extern void *__VERIFIER_palloc(size_t size) UNPICK_GENMC_REFUSED("storage that outlives a crash");
extern void __VERIFIER_pbarrier(void) UNPICK_GENMC_REFUSED("storage that outlives a crash");
extern void __VERIFIER_rcu_read_lock(void) UNPICK_GENMC_REFUSED("read-copy-update");
extern void __VERIFIER_rcu_read_unlock(void) UNPICK_GENMC_REFUSED("read-copy-update");
extern void __VERIFIER_synchronize_rcu(void) UNPICK_GENMC_REFUSED("read-copy-update");
#define __VERIFIER_persistent_storage(declaration) unpick_does_not_support_storage_that_outlives_a_crash

/* Hazard pointers: what is retired stays until the execution ends, so nothing needs to be protected. */
typedef void *__VERIFIER_hp_t;

UNPICK_GENMC void unpick_retire_(void *block) {
    if (unpick_exploring()) {
        __unpick_retire(block);
    }
}

#ifdef __cplusplus
}
#define UNPICK_GENMC_VALUE auto
#else
#define UNPICK_GENMC_VALUE __auto_type
#endif

#define __VERIFIER_local_write(statement) do { statement; } while (0)
#define __VERIFIER_final_write(statement) do { statement; } while (0)
#define __VERIFIER_helped_CAS(operation) do { operation; } while (0)
#define __VERIFIER_helping_CAS(operation) do { operation; } while (0)
#define UNPICK_GENMC_SAME(operation) \
    (__extension__({ UNPICK_GENMC_VALUE unpick_value_ = operation; unpick_value_; }))
#define __VERIFIER_speculative_read(operation) UNPICK_GENMC_SAME(operation)
#define __VERIFIER_confirming_read(operation) UNPICK_GENMC_SAME(operation)
#define __VERIFIER_confirming_CAS(operation) UNPICK_GENMC_SAME(operation)
#define __VERIFIER_final_CAS(operation) UNPICK_GENMC_SAME(operation)
#define __VERIFIER_optional(block) do { } while (0)

#define __VERIFIER_hp_alloc() ((__VERIFIER_hp_t)0)
#define __VERIFIER_hp_protect(pointer, place) \
    (__extension__({ (void)(pointer); __atomic_load_n((void **)(place), __ATOMIC_ACQUIRE); }))
#define __VERIFIER_hp_clear(pointer) ((void)(pointer))
#define __VERIFIER_hp_free(pointer) ((void)(pointer))
#define __VERIFIER_hp_retire(block) unpick_retire_(block)

#endif
