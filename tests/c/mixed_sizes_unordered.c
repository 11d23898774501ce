// refused: an access to 4 bytes and one to 1 bytes overlap, and nothing orders them
// fixed: 2 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
// A part of an atomic variable is used while another thread uses the whole, or under the same lock.
static union {
    _Atomic uint32_t whole;
    _Atomic uint8_t bytes[4];
} object;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) {
#ifndef BUG
    pthread_mutex_lock(&mutex);
#endif
}
static void unlock(void) {
#ifndef BUG
    pthread_mutex_unlock(&mutex);
#endif
}
static void *use_whole(void *unused) {
    lock();
    atomic_fetch_add_explicit(&object.whole, 0x01010101, memory_order_relaxed);
    unlock();
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, use_whole, 0);
    lock();
    uint8_t seen = atomic_load_explicit(&object.bytes[1], memory_order_relaxed);
    atomic_store_explicit(&object.bytes[2], 4, memory_order_relaxed);
    unlock();
    pthread_join(thread, 0);
    uint32_t end = atomic_load_explicit(&object.whole, memory_order_relaxed);
    assert(end == (seen ? 0x01040101u : 0x01050101u));
    return 0;
}
