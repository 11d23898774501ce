#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unpick.h>

atomic_int count;

static void *add(void *unused) {
    atomic_fetch_add(&count, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    atomic_fetch_add(&count, 1);
    pthread_join(thread, NULL);
    unpick_require(atomic_load(&count) == 2);
    printf("count %d\n", atomic_load(&count));
    return 0;
}
