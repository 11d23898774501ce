//! Random numbers: each thread has a sequence of its own, the same in each execution; on request they are choices instead.

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops::{self, Caller};
use crate::real::pass;
use crate::trial;

entries! {
    getrandom => get;
    getentropy => get_entropy;
    arc4random => next_word;
    _ZNSt13random_device9_M_getvalEv => next_of_device;
    rand => next_number;
    random => next_long;
    lrand48 => next_long48;
    mrand48 => next_signed48;
    drand48 => next_fraction;
    srand => start_at;
    srandom => start_random_at;
    srand48 => start_48_at;
}

/// The next number of the calling thread.
fn next() -> u64 {
    let Some(caller) = ops::enter() else { return 0x5eed };
    let number = match caller.session().limits.random {
        Some(bound) => caller.choose(bound),
        None => drawn(&caller),
    };
    caller.leave();
    number
}

/// Any number, as far as the program is concerned.
pub(crate) fn any() -> u64 {
    if is_checked() { next() } else { pass!(c"rand", fn() -> i32) as u64 }
}

/// The next number of the sequence of a thread.
fn drawn(caller: &Caller) -> u64 {
    if let Some(trying) = &mut caller.session().trying {
        trying.trial.use_hidden();
    }
    let own = u64::from(caller.number_of(caller.thread.index()));
    let thread = &mut caller.session().threads[caller.thread.index()];
    thread.drawn += 1;
    let start = thread.seed.map_or(own, |seed| u64::from(seed) | 1 << 32);
    let mut number = (start << 24).wrapping_add(thread.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ number >> 32
}

/// Lets the numbers of the calling thread start at a place that the seed names.
fn start(seed: u32) {
    if let Some(caller) = ops::enter() {
        let thread = &mut caller.session().threads[caller.thread.index()];
        (thread.seed, thread.drawn) = (Some(seed), 0);
        caller.leave();
    }
}

/// Fills a buffer of the program.
pub(crate) fn fill(buffer: *mut u8, size: usize) {
    trial::touch(buffer as usize, size);
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

/// `std::random_device`, which else asks the processor.
extern "C" fn next_of_device(device: usize) -> u32 {
    if !is_checked() {
        return pass!(c"_ZNSt13random_device9_M_getvalEv", fn(usize) -> u32, device);
    }
    next() as u32
}

/// Whether the program is under test; elsewhere the C library's numbers will do.
fn is_checked() -> bool {
    mode::in_program()
}

/// A number of 31 bits.
fn positive() -> i64 {
    (next() & 0x7fff_ffff) as i64
}

extern "C" fn next_number() -> i32 {
    if is_checked() { positive() as i32 } else { pass!(c"rand", fn() -> i32) }
}

extern "C" fn next_long() -> i64 {
    if is_checked() { positive() } else { pass!(c"random", fn() -> i64) }
}

extern "C" fn next_long48() -> i64 {
    if is_checked() { positive() } else { pass!(c"lrand48", fn() -> i64) }
}

extern "C" fn next_signed48() -> i64 {
    if is_checked() { i64::from(next() as i32) } else { pass!(c"mrand48", fn() -> i64) }
}

extern "C" fn next_fraction() -> f64 {
    if !is_checked() {
        return pass!(c"drand48", fn() -> f64);
    }
    let Some(caller) = ops::enter() else { return 0.0 };
    let fraction = match caller.session().limits.random {
        Some(bound) => caller.choose(bound) as f64 / bound as f64,
        None => (drawn(&caller) >> 11) as f64 / (1u64 << 53) as f64,
    };
    caller.leave();
    fraction
}

extern "C" fn start_at(seed: u32) {
    if is_checked() { start(seed) } else { pass!(c"srand", fn(u32) -> (), seed) }
}

extern "C" fn start_random_at(seed: u32) {
    if is_checked() { start(seed) } else { pass!(c"srandom", fn(u32) -> (), seed) }
}

extern "C" fn start_48_at(seed: i64) {
    if is_checked() { start(seed as u32) } else { pass!(c"srand48", fn(i64) -> (), seed) }
}
