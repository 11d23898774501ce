// bug: failed assertion
// fixed: 1500 executions
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <unpick.h>
// Each execution leaves files open, and none finds those of another.
int main(void) {
    unsigned number = unpick_choose(1500);
    int first = open("/dev/zero", O_RDONLY), second = open("/proc/self/exe", O_RDONLY);
    FILE *stream = fopen("/proc/self/exe", "r");
    char bytes[4];
    assert(first > 2 && second == first + 1 && stream && fileno(stream) == first + 2);
    close(first);
    assert(fgetc(stream) == 0x7f && fgetc(stream) == 'E');
    assert(read(second, bytes, 4) == 4 && bytes[1] == 'E');
#ifdef BUG
    assert(number < 1400);
#else
    (void)number;
#endif
    return 0;
}
