//! Random numbers of the system: each thread has a sequence of its own, the same in each execution.

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops;
use crate::real::pass;

entries! {
    getrandom => get;
    getentropy => get_entropy;
    arc4random => next_word;
}

/// The next number of the calling thread.
fn next() -> u64 {
    let Some(caller) = ops::enter() else { return 0x5eed };
    let thread = u64::from(caller.number_of(caller.thread.index()));
    let drawn = &mut caller.session().threads[caller.thread.index()].drawn;
    *drawn += 1;
    let mut number = (thread << 32 | *drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    caller.leave();
    number ^ number >> 32
}

/// Fills a buffer of the program.
pub(crate) fn fill(buffer: *mut u8, size: usize) {
    for at in (0..size).step_by(8) {
        let number = next().to_ne_bytes();
        let count = number.len().min(size - at);
        // SAFETY: the caller's buffer.
        unsafe { std::ptr::copy_nonoverlapping(number.as_ptr(), buffer.add(at), count) };
    }
}

unsafe extern "C" fn get(buffer: *mut u8, size: usize, flags: u32) -> isize {
    if mode::mode() == Mode::Off {
        return pass!(c"getrandom", fn(*mut u8, usize, u32) -> isize, buffer, size, flags);
    }
    fill(buffer, size);
    size as isize
}

unsafe extern "C" fn get_entropy(buffer: *mut u8, size: usize) -> i32 {
    if mode::mode() == Mode::Off {
        return pass!(c"getentropy", fn(*mut u8, usize) -> i32, buffer, size);
    }
    fill(buffer, size);
    0
}

extern "C" fn next_word() -> u32 {
    if mode::mode() == Mode::Off {
        return pass!(c"arc4random", fn() -> u32);
    }
    next() as u32
}
