// bug malloc: access out of bounds
// fixed malloc: 1 executions
// bug calloc: access out of bounds
// fixed calloc: 1 executions
// bug realloc: access out of bounds
// fixed realloc: 1 executions
// bug reallocarray: access out of bounds
// fixed reallocarray: 1 executions
// bug aligned_alloc: access out of bounds
// fixed aligned_alloc: 1 executions
// bug memalign: access out of bounds
// fixed memalign: 1 executions
// bug posix_memalign: access out of bounds
// fixed posix_memalign: 1 executions
// bug valloc: access out of bounds
// fixed valloc: 1 executions
// bug pvalloc: access out of bounds
// fixed pvalloc: 1 executions
// bug strdup: access out of bounds
// fixed strdup: 1 executions
// bug contents: leak
// fixed contents: 1 executions
// bug failure: leak
// fixed failure: 1 executions
// bug after_realloc: use after free
// fixed after_realloc: 1 executions
// bug twice: double free
// fixed twice: 1 executions
// bug inside: invalid free
// fixed inside: 1 executions
// settings: UNPICK_LEAKS=1

// Memory from each function that gives some: blocks have their size, their alignment, and what was in them.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include "cases.h"

static char *volatile block, *volatile old;

static char text[100];

/* Uses a block of so many bytes, and the byte behind it if that is the bug. */
static void use(void *taken, size_t size, size_t align) {
    block = taken;
    assert(block && (uintptr_t)block % align == 0);
    assert(malloc_usable_size(taken) >= size);
    block[0] = 1;
    block[size - 1] = 2;
#ifdef BUG
    block[size] = 3;
#endif
    free(block);
}

static void *by_place(size_t size) {
    void *place = 0;
    assert(posix_memalign(&place, 3, size) == EINVAL && place == 0);
    assert(posix_memalign(&place, 64, size) == 0);
    return place;
}

static void by_malloc(void) { use(malloc(100), 100, 16); }
static void by_calloc(void) { use(calloc(10, 10), 100, 16); }
static void by_realloc(void) { use(realloc(malloc(10), 100), 100, 16); }
static void by_reallocarray(void) { use(reallocarray(0, 10, 10), 100, 16); }
static void by_aligned_alloc(void) { use(aligned_alloc(64, 100), 100, 64); }
static void by_memalign(void) { use(memalign(64, 100), 100, 64); }
static void by_posix_memalign(void) { use(by_place(100), 100, 64); }
static void by_valloc(void) { use(valloc(100), 100, 4096); }
static void by_pvalloc(void) { use(pvalloc(100), 4096, 4096); }
static void by_strdup(void) { memset(text, 'x', 99); use(strdup(text), 100, 16); }

static void contents(void) {
    block = calloc(4, 4);
    assert(!block[0] && !block[15]);
    memcpy(block, "0123456789abcdef", 16);
    old = block;
    block = realloc(block, 8);
    assert(!memcmp(block, "01234567", 8));
    block = realloc(block, 32);
    assert(!memcmp(block, "01234567", 8));
#ifndef BUG
    assert(realloc(block, 0) == 0);
#endif
    block = old = 0;
    free(0);
    assert(malloc_usable_size(0) == 0);
    block = malloc(0);
    assert(block);
    free(block);
    block = 0;
}

/* Compilers may take it that allocation leaves it alone. */
#define error (*(volatile int *)&errno)

/* What is too much is not there. */
static void failure(void) {
    const size_t much = SIZE_MAX / 2;
    error = 0;
    block = malloc(much);
    assert(block == 0 && error == ENOMEM);
    error = 0;
    block = calloc(much, 4);
    assert(block == 0 && error == ENOMEM);
    block = malloc(10);
    error = 0;
    assert(reallocarray(block, much, 4) == 0 && error == ENOMEM);
    old = realloc(block, much);
    assert(old == 0);
    old = aligned_alloc(64, much);
    assert(old == 0);
#ifndef BUG
    free(block);
#endif
    block = 0;
}

static void after_realloc(void) {
    block = malloc(10);
    old = block;
    block = realloc(block, 20);
#ifdef BUG
    old[0] = 1;
#else
    block[0] = 1;
#endif
    free(block);
}

static void twice(void) {
    block = malloc(10);
    old = realloc(block, 20);
#ifdef BUG
    free(block);
#endif
    free(old);
}

static void inside(void) {
    block = aligned_alloc(64, 64);
#ifdef BUG
    free(block + 32);
#endif
    free(block);
}

CASES({"malloc", by_malloc}, {"calloc", by_calloc}, {"realloc", by_realloc}, {"reallocarray", by_reallocarray}, {"aligned_alloc", by_aligned_alloc}, {"memalign", by_memalign}, {"posix_memalign", by_posix_memalign}, {"valloc", by_valloc}, {"pvalloc", by_pvalloc}, {"strdup", by_strdup},
      {"contents", contents}, {"failure", failure}, {"after_realloc", after_realloc}, {"twice", twice},
      {"inside", inside})
