// A library that is compiled without instrumentation.
int peek(const void *place) {
    return *(const volatile int *)place;
}
