// A library that opens a file in its constructor.
#include <fcntl.h>
#include <unistd.h>
int opened = -1;
__attribute__((constructor)) static void begin(void) {
    opened = open("/proc/self/exe", O_RDONLY);
    lseek(opened, 1, SEEK_SET);
}
