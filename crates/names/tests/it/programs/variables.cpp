// Prints expressions with the places of what they name: the compiler says what the names are.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

extern "C" char __executable_start;

struct Node {
    int value;
    std::atomic<Node *> next;
};

namespace queue {
struct Base {
    long tag;
};
struct Ring : Base {
    Node slots[4];
    union {
        int small;
        long wide;
    };
    static int made;
};
int Ring::made;
Ring ring;
namespace {
int hidden;
}
}  // namespace queue

int plain;
pthread_mutex_t locks[2];
std::atomic<int> counter;
Node table[5];
int grid[3][4];
std::array<Node, 3> nodes;
struct {
    struct {
        short a, b;
    } inner[2];
} nameless;
const volatile int fixed[2] = {1, 2};

static void say(const char *kind, const char *name, const volatile void *place, size_t size) {
    std::printf("%s %zx %zu %s\n", kind, (size_t)((const volatile char *)place - &__executable_start), size, name);
}
#define GLOBAL(x) say("global", #x, &(x), sizeof(x))

static int *counted() {
    static int calls;
    return &calls;
}

#ifdef __clang__
#define CFA ((char *)__builtin_frame_address(0) + 16)
#else
#define CFA __builtin_dwarf_cfa()
#endif

// Where a variable lies from the canonical frame address and from the stack pointer.
#define LOCAL(x)                                                                                          \
    do {                                                                                                  \
        char *stack;                                                                                      \
        __asm__ volatile("mov %%rsp, %0" : "=r"(stack));                                                  \
        std::printf("local %zx %td %zu %td %s\n", (size_t)((char *)here() - &__executable_start),         \
                    (char *)&(x) - (char *)CFA, sizeof(x), (char *)&(x) - stack, #x);   \
    } while (0)

__attribute__((noinline)) static void *here() { return __builtin_return_address(0); }

__attribute__((noinline)) static void frames(int parameter) {
    std::atomic<int> shared{1};
    Node pair[2];
    pair[0].value = pair[1].value = parameter;
    LOCAL(shared);
    LOCAL(pair[1].value);
    LOCAL(pair[0].next);
}

#define BLOCK(name, block, field, size)                                                           \
    std::printf("block %zx %zu %zu %zu %s\n", (size_t)((char *)made_at - &__executable_start), (size_t)(size), \
                (size_t)((char *)&(field) - (char *)(block)), sizeof(field), name)

static void *made_at;
__attribute__((noinline)) void *operator new(size_t size) {
    made_at = __builtin_return_address(0);
    return __builtin_malloc(size);
}

__attribute__((noinline)) void *operator new[](size_t size) {
    made_at = __builtin_return_address(0);
    return __builtin_malloc(size);
}

__attribute__((noinline)) static void blocks() {
    Node *one = new Node();
    BLOCK("Node.next", one, one->next, sizeof(Node));
    std::vector<Node> *several = new std::vector<Node>(3);
    BLOCK("Node[2].value", several->data(), several->data()[2].value, 3 * sizeof(Node));
    // A name of a number says nothing about a block of numbers.
    std::uintptr_t *words = new std::uintptr_t[4];
    BLOCK("?", words, words[2], 4 * sizeof(std::uintptr_t));
    Node *many = static_cast<Node *>(operator new(2 * sizeof(Node)));
    BLOCK("Node[1].next", many, many[1].next, 2 * sizeof(Node));
}

int main() {
    GLOBAL(plain);
    say("global", "locks[1]", &locks[1], 4);
    GLOBAL(counter);
    GLOBAL(table[3].next);
    GLOBAL(table[4].value);
    GLOBAL(table[2]);
    GLOBAL(grid[2][1]);
    GLOBAL(grid[1]);
    GLOBAL(queue::ring.slots[2].next);
    GLOBAL(queue::ring.tag);
    GLOBAL(queue::ring.small);
    GLOBAL(queue::Ring::made);
    GLOBAL(nameless.inner[1].b);
    GLOBAL(fixed[1]);
    say("global", "queue::hidden", &queue::hidden, sizeof queue::hidden);
    say("global", "nodes[1].next", &nodes[1].next, sizeof nodes[1].next);
    say("global", "counted::calls", counted(), sizeof(int));
    frames(3);
    blocks();
    return plain + queue::hidden;
}
