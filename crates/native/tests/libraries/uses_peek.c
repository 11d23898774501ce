// What the library reads is not seen, and makes what a thread does depend on an order that no schedule has.
#include <pthread.h>
#include <stdatomic.h>
int peek(const void *place);
static atomic_int x, y, z;
static void *look(void *unused) {
    atomic_load(&y);
    if (peek(&x))
        atomic_store(&y, 1);
    atomic_fetch_add(&z, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, look, 0);
    atomic_fetch_add(&z, 1);
    atomic_store(&x, 1);
    pthread_join(thread, 0);
    return 0;
}
