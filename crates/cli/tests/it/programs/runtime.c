/* A runtime that does what the program asks for and nothing else, to see how programs are built. */
#include <stddef.h>

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **slot, void *value) { (void)slot, (void)value; }
void __tsan_vptr_read(void **slot) { (void)slot; }
void __tsan_read_range(void *place, size_t size) { (void)place, (void)size; }
void __tsan_write_range(void *place, size_t size) { (void)place, (void)size; }
void __tsan_atomic_thread_fence(int order) { (void)order, __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int order) { (void)order; }

#define ACCESS(size)                                              \
    void __tsan_read##size(void *place) { (void)place; }          \
    void __tsan_write##size(void *place) { (void)place; }         \
    void __tsan_read_write##size(void *place) { (void)place; }    \
    void __tsan_volatile_read##size(void *place) { (void)place; } \
    void __tsan_volatile_write##size(void *place) { (void)place; }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

#define ATOMIC(bits, type)                                                                                       \
    type __tsan_atomic##bits##_load(const type *place, int order) {                                              \
        return (void)order, __atomic_load_n(place, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                            \
    void __tsan_atomic##bits##_store(type *place, type value, int order) {                                       \
        (void)order, __atomic_store_n(place, value, __ATOMIC_SEQ_CST);                                           \
    }                                                                                                            \
    type __tsan_atomic##bits##_fetch_add(type *place, type value, int order) {                                   \
        return (void)order, __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);                                  \
    }                                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_strong(type *place, type *old, type value, int order, int fail) { \
        return (void)order, (void)fail,                                                                          \
               __atomic_compare_exchange_n(place, old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
    }
ATOMIC(8, char)
ATOMIC(16, short)
ATOMIC(32, int)
ATOMIC(64, long)
