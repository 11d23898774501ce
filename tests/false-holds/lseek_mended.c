// holds
// As lseek; each round goes to the same byte.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int flag;
static void *set(void *unused) {
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
int main(void) {
    pthread_t thread;
    int file = open("/proc/self/exe", O_RDONLY);
    assert(file >= 0);
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        assert(lseek(file, 1, SEEK_SET) == 1);
    }
    pthread_join(thread, 0);
    close(file);
    return 0;
}
