#include "mailbox.h"

#include <stdatomic.h>

static int content;
static atomic_int full;

int mailbox_put(int letter) {
    if (atomic_load_explicit(&full, memory_order_acquire)) {
        return 0;
    }
    content = letter;
    atomic_store_explicit(&full, 1, memory_order_release);
    return 1;
}

int mailbox_take(void) {
    if (!atomic_load_explicit(&full, memory_order_acquire)) {
        return 0;
    }
    int letter = content;
    /* Whoever puts the next letter may overwrite this one while it is read. */
    atomic_store_explicit(&full, 0, memory_order_relaxed);
    return letter;
}
