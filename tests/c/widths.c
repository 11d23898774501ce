// bug: failed assertion
// fixed: 1 executions
// flags: -mcx16
#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
static _Atomic uint8_t a8 = 0xfe;
static _Atomic uint16_t a16 = 0xfffe;
static _Atomic uint32_t a32 = 0xfffffffe;
static _Atomic uint64_t a64 = 0xfffffffffffffffe;
static __int128 a128;
#ifdef __clang__
#define NAND(a) assert(atomic_exchange(&a, ~3) == 7)
#else
#define NAND(a) assert(__atomic_fetch_nand(&a, 3, 5) == 7)
#endif
#define EACH(a)                                          \
    do {                                                 \
        uint64_t top = (uint64_t)(-1) >> (64 - 8 * sizeof a); \
        assert(atomic_fetch_add(&a, 3) == top - 1);      \
        assert(atomic_fetch_sub(&a, 2) == 1);            \
        assert(atomic_fetch_or(&a, 0xf) == top);         \
        assert(atomic_fetch_and(&a, 0x3c) == top);       \
        assert(atomic_fetch_xor(&a, 0xff) == 0x3c);      \
        assert(atomic_exchange(&a, 7) == 0xc3);          \
        uint64_t seen = 0;                               \
        seen = a;                                        \
        assert(seen == 7);                               \
        NAND(a);                                         \
        assert(atomic_load(&a) == (top & ~(uint64_t)3)); \
    } while (0)
int main(void) {
    EACH(a8);
    EACH(a16);
    EACH(a32);
    EACH(a64);
    uint32_t expected = 1;
    assert(!atomic_compare_exchange_strong(&a32, &expected, 2) && expected == 0xfffffffc);
    assert(atomic_compare_exchange_weak(&a32, &expected, 2) && a32 == 2);
    __int128 big = (__int128)1 << 100, wanted = 0;
    assert(__atomic_compare_exchange_n(&a128, &wanted, big, 0, 5, 5));
    assert(!__atomic_compare_exchange_n(&a128, &wanted, 1, 0, 5, 5) && wanted == big);
    assert(__atomic_fetch_add(&a128, 1, 5) == big);
    assert(__atomic_exchange_n(&a128, 3, 5) == big + 1);
    __atomic_store_n(&a128, 4, 5);
#ifdef BUG
    assert(__atomic_load_n(&a128, 5) == 3);
#else
    assert(__atomic_load_n(&a128, 5) == 4);
#endif
    return 0;
}
