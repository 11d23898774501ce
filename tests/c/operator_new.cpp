// bug plain: double free
// fixed plain: 1 executions
// bug array: double free
// fixed array: 1 executions
// bug nothrow: double free
// fixed nothrow: 1 executions
// bug nothrow_array: double free
// fixed nothrow_array: 1 executions
// bug aligned: double free
// fixed aligned: 1 executions
// bug aligned_array: double free
// fixed aligned_array: 1 executions
// bug aligned_nothrow: double free
// fixed aligned_nothrow: 1 executions
// bug aligned_nothrow_array: double free
// fixed aligned_nothrow_array: 1 executions
// bug unsized: double free
// fixed unsized: 1 executions
// bug sized: double free
// fixed sized: 1 executions
// bug unsized_array: double free
// fixed unsized_array: 1 executions
// bug sized_array: double free
// fixed sized_array: 1 executions
// bug sized_aligned: double free
// fixed sized_aligned: 1 executions
// bug sized_aligned_array: double free
// fixed sized_aligned_array: 1 executions
// bug failure: leak
// fixed failure: 1 executions
// flags: -std=c++20 -fsized-deallocation

// The operators of C++ that give memory and take it back: aligned, of their size, and given back once.
#include <cassert>
#include <cstdint>
#include <new>
#include "cases.h"

struct Small {
    int values[25] = {};
};
struct alignas(64) Wide {
    int values[16] = {};
};

/* Compilers may leave out what has no effect. */
static void *volatile kept;

template <typename T> static T *taken(T *block, std::size_t size, std::size_t align) {
    kept = block;
    assert(block && reinterpret_cast<std::uintptr_t>(block) % align == 0);
    reinterpret_cast<char *>(block)[0] = 1;
    reinterpret_cast<char *>(block)[size - 1] = 2;
    return block;
}

#ifdef BUG
#define TWICE(give) \
    give;           \
    give
#else
#define TWICE(give) give
#endif

static void by_plain() {
    Small *p = taken(new Small, 100, 16);
    TWICE(delete p);
}
static void by_array() {
    int *p = taken(new int[25], 100, 16);
    TWICE(delete[] p);
}
static void by_nothrow() {
    Small *p = taken(new (std::nothrow) Small, 100, 16);
    TWICE(p->~Small(); operator delete(p, std::nothrow));
}
static void by_nothrow_array() {
    int *p = taken(new (std::nothrow) int[25], 100, 16);
    TWICE(operator delete[](p, std::nothrow));
}
static void by_aligned() {
    Wide *p = taken(new Wide, 64, 64);
    TWICE(delete p);
}
static void by_aligned_array() {
    Wide *p = taken(new Wide[2], 128, 64);
    TWICE(delete[] p);
}
static void by_aligned_nothrow() {
    Wide *p = taken(new (std::nothrow) Wide, 64, 64);
    TWICE(p->~Wide(); operator delete(p, std::align_val_t{64}));
}
static void by_aligned_nothrow_array() {
    Wide *p = taken(new (std::nothrow) Wide[2], 128, 64);
    TWICE(operator delete[](p, std::align_val_t{64}));
}
static void by_unsized() {
    int *p = taken(static_cast<int *>(operator new(100)), 100, 16);
    TWICE(operator delete(p));
}
static void by_sized() {
    int *p = taken(static_cast<int *>(operator new(100)), 100, 16);
    TWICE(operator delete(p, std::size_t{100}));
}
static void by_unsized_array() {
    int *p = taken(static_cast<int *>(operator new[](100)), 100, 16);
    TWICE(operator delete[](p));
}
static void by_sized_array() {
    int *p = taken(static_cast<int *>(operator new[](100)), 100, 16);
    TWICE(operator delete[](p, std::size_t{100}));
}
static void by_sized_aligned() {
    int *p = taken(static_cast<int *>(operator new(128, std::align_val_t{64})), 128, 64);
    TWICE(operator delete(p, std::size_t{128}, std::align_val_t{64}));
}
static void by_sized_aligned_array() {
    int *p = taken(static_cast<int *>(operator new[](128, std::align_val_t{64})), 128, 64);
    TWICE(operator delete[](p, std::size_t{128}, std::align_val_t{64}));
}

/* More than there is: an exception, or nothing. */
static void by_failure() {
    const std::size_t much = SIZE_MAX / 4;
    int caught = 0;
    try {
        kept = operator new(much);
    } catch (const std::bad_alloc &) {
        caught++;
    }
    try {
        kept = operator new[](much, std::align_val_t{64});
    } catch (const std::bad_alloc &) {
        caught++;
    }
    assert(caught == 2 && !kept);
    kept = operator new(much, std::nothrow);
    assert(!kept);
    kept = operator new[](much, std::align_val_t{64}, std::nothrow);
    assert(!kept);
    kept = operator new(8);
#ifndef BUG
    operator delete(kept);
#endif
    kept = nullptr;
}

CASES({"plain", by_plain}, {"array", by_array}, {"nothrow", by_nothrow}, {"nothrow_array", by_nothrow_array}, {"aligned", by_aligned}, {"aligned_array", by_aligned_array}, {"aligned_nothrow", by_aligned_nothrow}, {"aligned_nothrow_array", by_aligned_nothrow_array}, {"unsized", by_unsized}, {"sized", by_sized}, {"unsized_array", by_unsized_array}, {"sized_array", by_sized_array}, {"sized_aligned", by_sized_aligned}, {"sized_aligned_array", by_sized_aligned_array}, {"failure", by_failure})
