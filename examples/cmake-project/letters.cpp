#include <cassert>
#include <thread>

#include "mailbox.h"

int main() {
    std::thread sender([] {
        for (int letter = 1; letter <= 2; ++letter) {
            mailbox_put(letter);
        }
    });
    int letter = mailbox_take();
    assert(letter >= 0 && letter <= 2);
    sender.join();
    return 0;
}
