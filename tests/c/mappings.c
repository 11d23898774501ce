// bug shared: data race
// fixed shared: 2 executions
// bug gone: crash
// fixed gone: 2 executions
// bug refused: failing exit
// flags: -D_GNU_SOURCE

// Memory that the program maps: it begins as zero in each execution, at the same address.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include "cases.h"

struct page {
    atomic_int ready;
    int data;
};

static struct page *make(void) {
    struct page *page = mmap(0, sizeof *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(page != MAP_FAILED && page->data == 0);
    return page;
}

static void *reads(void *shared) {
    struct page *page = shared;
    if (atomic_load_explicit(&page->ready, memory_order_acquire)) {
        assert(page->data == 1);
    }
    return 0;
}

static void shared(void) {
    pthread_t thread;
    struct page *page = make();
    pthread_create(&thread, 0, reads, page);
    page->data = 1;
#ifdef BUG
    atomic_store_explicit(&page->ready, 1, memory_order_relaxed);
#else
    atomic_store_explicit(&page->ready, 1, memory_order_release);
#endif
    pthread_join(thread, 0);
}

static void gone(void) {
    pthread_t thread;
    struct page *page = make();
    struct page *other = mmap64(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(other != MAP_FAILED && munmap((char *)other + 4096, 4096) == 0);
    pthread_create(&thread, 0, reads, page);
    page->data = 1;
    atomic_store(&page->ready, 1);
#ifdef BUG
    munmap(page, sizeof *page);
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    munmap(page, sizeof *page);
#endif
}

static void refused(void) {
    errno = 0;
    if (mmap(0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL) {
        exit(3);
    }
}

CASES({"shared", shared}, {"gone", gone}, {"refused", refused})
