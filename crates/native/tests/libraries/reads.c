// A program that reads on in a file that the library `reader` has opened.
#include <assert.h>
#include <string.h>
#include <unistd.h>
#include <unpick.h>
extern int opened;
int main(void) {
    char bytes[3];
    unsigned number = unpick_choose(5);
    assert(read(opened, bytes, 3) == 3 && memcmp(bytes, "ELF", 3) == 0);
#ifdef BUG
    if (number == 3)
        assert(read(opened, bytes, 3) == 3 && memcmp(bytes, "ELF", 3) == 0);
#endif
    if (number == 2)
        close(opened);
    return 0;
}
