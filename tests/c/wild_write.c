// bug: crash
// fixed: 560 executions
// says: a pointer has gone astray
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// Writes through a stray pointer, made to hit what hurts most: the largest mapping, which is not the program's. The stack may
// lie at its beginning, with a gap behind it.
static void go_astray(void) {
    static char text[1 << 16];
    int file = open("/proc/self/maps", O_RDONLY);
    size_t size = 0;
    for (ssize_t count; (count = read(file, text + size, sizeof text - 1 - size)) > 0;)
        size += count;
    close(file);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long from, to, here = (unsigned long)&from;
        if (sscanf(line, "%lx-%lx", &from, &to) != 2 || to - from < 1ul << 30)
            continue;
        if (from < here && here < to)
            from = here + 8192 & ~7ul;
        for (unsigned long at = from; at < from + (4 << 20); at += 8)
            *(volatile unsigned long *)at = 0x6161616161616161;
    }
}
static atomic_int x;
static void *add(void *amount) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&x, (long)amount);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long t = 0; t < 2; t++)
        pthread_create(&threads[t], 0, add, (void *)(t ? 10l : 1l));
    int first = atomic_load(&x), second = atomic_load(&x);
#ifdef BUG
    if (first == 1 && second == 22)
        go_astray();
#endif
#ifdef MORE
    if (first == 0 && second == 11)
        abort();
    assert(first != 33);
#endif
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], 0);
    return second == 34;
}
