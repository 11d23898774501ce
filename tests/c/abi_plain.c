// bug: data race
// bugs: 86 data race, 108 executions
// fixed: 108 executions

// What compilers call for plain accesses. Each is of so many bytes, and reads or writes: another thread that writes the last of them
// races, as does one that reads it if the access writes; one that touches the byte behind does not.
#include <assert.h>
#include <pthread.h>
#include <unpick.h>

void __tsan_read1(void *);
void __tsan_read2(void *);
void __tsan_read4(void *);
void __tsan_read8(void *);
void __tsan_read16(void *);
void __tsan_write1(void *);
void __tsan_write2(void *);
void __tsan_write4(void *);
void __tsan_write8(void *);
void __tsan_write16(void *);
void __tsan_unaligned_read2(void *);
void __tsan_unaligned_read4(void *);
void __tsan_unaligned_read8(void *);
void __tsan_unaligned_read16(void *);
void __tsan_unaligned_write2(void *);
void __tsan_unaligned_write4(void *);
void __tsan_unaligned_write8(void *);
void __tsan_unaligned_write16(void *);
void __tsan_volatile_read1(void *);
void __tsan_volatile_read2(void *);
void __tsan_volatile_read4(void *);
void __tsan_volatile_read8(void *);
void __tsan_volatile_read16(void *);
void __tsan_volatile_write1(void *);
void __tsan_volatile_write2(void *);
void __tsan_volatile_write4(void *);
void __tsan_volatile_write8(void *);
void __tsan_volatile_write16(void *);
void __tsan_unaligned_volatile_read2(void *);
void __tsan_unaligned_volatile_read4(void *);
void __tsan_unaligned_volatile_read8(void *);
void __tsan_unaligned_volatile_read16(void *);
void __tsan_unaligned_volatile_write2(void *);
void __tsan_unaligned_volatile_write4(void *);
void __tsan_unaligned_volatile_write8(void *);
void __tsan_unaligned_volatile_write16(void *);
void __tsan_read_write1(void *);
void __tsan_read_write2(void *);
void __tsan_read_write4(void *);
void __tsan_read_write8(void *);
void __tsan_read_write16(void *);
void __tsan_unaligned_read_write2(void *);
void __tsan_unaligned_read_write4(void *);
void __tsan_unaligned_read_write8(void *);
void __tsan_unaligned_read_write16(void *);
void __tsan_vptr_read(void *);
void __tsan_vptr_update(void *, void *);
void __tsan_read_range(void *, unsigned long);
void __tsan_write_range(void *, unsigned long);
void *__tsan_memcpy(void *, const void *, unsigned long);
void *__tsan_memmove(void *, const void *, unsigned long);
void *__tsan_memset(void *, int, unsigned long);

static _Alignas(16) char bytes[32];
static char other[32];
static char *volatile used;
static volatile int writes;
/* Different in each case, so that compilers do not make one call of two. */
static volatile int done;
static pthread_t thread;

static void *touch(void *unused) {
    char *byte = used;
    if (writes)
        *(volatile char *)byte = 1;
    else
        (void)*(volatile char *)byte;
    return unused;
}

/* Lets another thread touch the last of so many bytes; without the bug, the one behind. Either access writes. */
__attribute__((noinline)) static void use(int size, int access_writes) {
#ifdef BUG
    used = bytes + size - 1;
#else
    used = bytes + size;
#endif
    writes = !access_writes;
    if (unpick_choose(2))
        writes = 1;
    pthread_create(&thread, 0, touch, 0);
}

int main(void) {
    switch (unpick_choose(54)) {
    case 0:
        use(1, 0);
        __tsan_read1(bytes);
        done = 1;
        break;
    case 1:
        use(2, 0);
        __tsan_read2(bytes);
        done = 2;
        break;
    case 2:
        use(4, 0);
        __tsan_read4(bytes);
        done = 3;
        break;
    case 3:
        use(8, 0);
        __tsan_read8(bytes);
        done = 4;
        break;
    case 4:
        use(16, 0);
        __tsan_read16(bytes);
        done = 5;
        break;
    case 5:
        use(1, 1);
        __tsan_write1(bytes);
        done = 6;
        break;
    case 6:
        use(2, 1);
        __tsan_write2(bytes);
        done = 7;
        break;
    case 7:
        use(4, 1);
        __tsan_write4(bytes);
        done = 8;
        break;
    case 8:
        use(8, 1);
        __tsan_write8(bytes);
        done = 9;
        break;
    case 9:
        use(16, 1);
        __tsan_write16(bytes);
        done = 10;
        break;
    case 10:
        use(2, 0);
        __tsan_unaligned_read2(bytes);
        done = 11;
        break;
    case 11:
        use(4, 0);
        __tsan_unaligned_read4(bytes);
        done = 12;
        break;
    case 12:
        use(8, 0);
        __tsan_unaligned_read8(bytes);
        done = 13;
        break;
    case 13:
        use(16, 0);
        __tsan_unaligned_read16(bytes);
        done = 14;
        break;
    case 14:
        use(2, 1);
        __tsan_unaligned_write2(bytes);
        done = 15;
        break;
    case 15:
        use(4, 1);
        __tsan_unaligned_write4(bytes);
        done = 16;
        break;
    case 16:
        use(8, 1);
        __tsan_unaligned_write8(bytes);
        done = 17;
        break;
    case 17:
        use(16, 1);
        __tsan_unaligned_write16(bytes);
        done = 18;
        break;
    case 18:
        use(1, 0);
        __tsan_volatile_read1(bytes);
        done = 19;
        break;
    case 19:
        use(2, 0);
        __tsan_volatile_read2(bytes);
        done = 20;
        break;
    case 20:
        use(4, 0);
        __tsan_volatile_read4(bytes);
        done = 21;
        break;
    case 21:
        use(8, 0);
        __tsan_volatile_read8(bytes);
        done = 22;
        break;
    case 22:
        use(16, 0);
        __tsan_volatile_read16(bytes);
        done = 23;
        break;
    case 23:
        use(1, 1);
        __tsan_volatile_write1(bytes);
        done = 24;
        break;
    case 24:
        use(2, 1);
        __tsan_volatile_write2(bytes);
        done = 25;
        break;
    case 25:
        use(4, 1);
        __tsan_volatile_write4(bytes);
        done = 26;
        break;
    case 26:
        use(8, 1);
        __tsan_volatile_write8(bytes);
        done = 27;
        break;
    case 27:
        use(16, 1);
        __tsan_volatile_write16(bytes);
        done = 28;
        break;
    case 28:
        use(2, 0);
        __tsan_unaligned_volatile_read2(bytes);
        done = 29;
        break;
    case 29:
        use(4, 0);
        __tsan_unaligned_volatile_read4(bytes);
        done = 30;
        break;
    case 30:
        use(8, 0);
        __tsan_unaligned_volatile_read8(bytes);
        done = 31;
        break;
    case 31:
        use(16, 0);
        __tsan_unaligned_volatile_read16(bytes);
        done = 32;
        break;
    case 32:
        use(2, 1);
        __tsan_unaligned_volatile_write2(bytes);
        done = 33;
        break;
    case 33:
        use(4, 1);
        __tsan_unaligned_volatile_write4(bytes);
        done = 34;
        break;
    case 34:
        use(8, 1);
        __tsan_unaligned_volatile_write8(bytes);
        done = 35;
        break;
    case 35:
        use(16, 1);
        __tsan_unaligned_volatile_write16(bytes);
        done = 36;
        break;
    case 36:
        use(1, 1);
        __tsan_read_write1(bytes);
        done = 37;
        break;
    case 37:
        use(2, 1);
        __tsan_read_write2(bytes);
        done = 38;
        break;
    case 38:
        use(4, 1);
        __tsan_read_write4(bytes);
        done = 39;
        break;
    case 39:
        use(8, 1);
        __tsan_read_write8(bytes);
        done = 40;
        break;
    case 40:
        use(16, 1);
        __tsan_read_write16(bytes);
        done = 41;
        break;
    case 41:
        use(2, 1);
        __tsan_unaligned_read_write2(bytes);
        done = 42;
        break;
    case 42:
        use(4, 1);
        __tsan_unaligned_read_write4(bytes);
        done = 43;
        break;
    case 43:
        use(8, 1);
        __tsan_unaligned_read_write8(bytes);
        done = 44;
        break;
    case 44:
        use(16, 1);
        __tsan_unaligned_read_write16(bytes);
        done = 45;
        break;
    case 45:
        use(8, 0);
        __tsan_vptr_read(bytes);
        done = 46;
        break;
    case 46:
        use(8, 1);
        __tsan_vptr_update(bytes, bytes);
        done = 47;
        break;
    case 47:
        use(13, 0);
        __tsan_read_range(bytes, 13);
        done = 48;
        break;
    case 48:
        use(13, 1);
        __tsan_write_range(bytes, 13);
        done = 49;
        break;
    case 49:
        use(5, 0);
        __tsan_memcpy(other, bytes, 5);
        done = 50;
        break;
    case 50:
        use(5, 1);
        __tsan_memcpy(bytes, other, 5);
        done = 51;
        break;
    case 51:
        use(5, 0);
        __tsan_memmove(other, bytes, 5);
        done = 52;
        break;
    case 52:
        use(5, 1);
        __tsan_memmove(bytes, other, 5);
        done = 53;
        break;
    case 53:
        use(5, 1);
        __tsan_memset(bytes, 1, 5);
        done = 54;
        break;
    }
    pthread_join(thread, 0);
    return 0;
}
