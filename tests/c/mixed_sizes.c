// bug: failed assertion
// fixed: 3 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static union {
    _Atomic uint32_t whole;
    _Atomic uint8_t bytes[4];
} object;
static void *set(void *unused) {
    atomic_fetch_add(&object.whole, 0x01010101);
    return unused;
}
int main(void) {
    pthread_t thread;
    atomic_store(&object.bytes[0], 1);
    atomic_store(&object.bytes[3], 2);
    pthread_create(&thread, 0, set, 0);
    uint32_t seen = atomic_fetch_add(&object.whole, 1);
    assert(seen == 0x02000001 || seen == 0x03010102);
    uint32_t later = atomic_load(&object.whole);
    pthread_join(thread, 0);
#ifdef BUG
    assert(later == 0x03010103);
#endif
    assert(atomic_load(&object.bytes[3]) == 3 && atomic_load(&object.bytes[1]) == 1);
    return 0;
}
