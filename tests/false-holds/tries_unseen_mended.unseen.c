// part of tries_unseen_mended
// Built without the wrapper: what it writes is not seen.
static int count;
int count_up_to(int most) {
    if (count < most)
        count++;
    return count;
}
