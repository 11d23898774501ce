//! Random numbers, of the system and of the C library: each thread has a sequence of its own, the same in each execution.
//! The seed of a thread is that of its parent until it sets another.

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops;
use crate::real::pass;

entries! {
    getrandom => get;
    getentropy => get_entropy;
    arc4random => next_word;
    rand => next_number;
    random => next_long;
    lrand48 => next_long_48;
    mrand48 => next_signed;
    drand48 => next_fraction;
    srand => seed;
    srandom => seed_random;
    srand48 => seed_48;
}

/// The next number of the calling thread.
fn next() -> u64 {
    let Some(caller) = ops::enter() else { return 0x5eed };
    let thread = u64::from(caller.number_of(caller.thread.index()));
    let own = &mut caller.session().threads[caller.thread.index()];
    own.drawn += 1;
    let mut number = (thread << 32 | own.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ own.seed;
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

/// Whether the C library's own numbers will do.
fn is_unseen() -> bool {
    matches!(mode::mode(), Mode::Off | Mode::Before)
}

/// Defines functions of the C library that give numbers: the entry, its function, its type, and how it makes the number.
macro_rules! numbers {
    ($($function:ident $name:literal -> $type:ty, $make:expr;)*) => { $(
        extern "C" fn $function() -> $type {
            if is_unseen() {
                return pass!($name, fn() -> $type);
            }
            let make: fn(u64) -> $type = $make;
            make(next())
        }
    )* };
}

numbers! {
    next_number c"rand" -> i32, |number| (number >> 33) as i32;
    next_long c"random" -> i64, |number| (number >> 33) as i64;
    next_long_48 c"lrand48" -> i64, |number| (number >> 33) as i64;
    next_signed c"mrand48" -> i64, |number| i64::from((number >> 32) as i32);
    next_fraction c"drand48" -> f64, |number| (number >> 11) as f64 / (1u64 << 53) as f64;
}

/// Lets the sequence of the calling thread begin anew.
fn set_seed(seed: u64) {
    if let Some(caller) = ops::enter() {
        let own = &mut caller.session().threads[caller.thread.index()];
        (own.drawn, own.seed) = (0, seed.wrapping_mul(0xd134_2543_de82_ef95));
        caller.leave();
    }
}

extern "C" fn seed(seed: u32) {
    if is_unseen() {
        return pass!(c"srand", fn(u32) -> (), seed);
    }
    set_seed(seed.into());
}

extern "C" fn seed_random(seed: u32) {
    if is_unseen() {
        return pass!(c"srandom", fn(u32) -> (), seed);
    }
    set_seed(seed.into());
}

extern "C" fn seed_48(seed: i64) {
    if is_unseen() {
        return pass!(c"srand48", fn(i64) -> (), seed);
    }
    set_seed(seed as u64);
}
