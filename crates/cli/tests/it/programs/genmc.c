/* A program as it is written for GenMC. */
#include <genmc.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
int *shared;

void *thread_n(void *unused) {
    int r = __VERIFIER_speculative_read(atomic_load_explicit(&x, memory_order_relaxed));
    __VERIFIER_assume(r == 0);
    __VERIFIER_confirming_CAS(atomic_compare_exchange_strong(&x, &r, r + 1));
    __VERIFIER_optional(atomic_load(&x));
    return unused;
}

int main(void) {
    __VERIFIER_thread_t t1 = __VERIFIER_spawn(thread_n, NULL);
    __VERIFIER_thread_t t2 = __VERIFIER_spawn_symmetric(thread_n, NULL, t1);
    __VERIFIER_join(t1);
    __VERIFIER_join_symmetric(t2);
    unpick_require(__VERIFIER_nondet_int() != __VERIFIER_nondet_int());
    shared = malloc(sizeof *shared);
    __VERIFIER_final_write(*shared = 1);
    __VERIFIER_hp_retire(shared);
    return 0;
}
