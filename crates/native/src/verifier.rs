//! The functions that programs of verification competitions, and for GenMC, declare by themselves and leave to the tool.
//!
//! A program that defines one itself uses its own.

use unpick_core::op::{Addr, Op};
use unpick_core::violation::Kind;

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops;
use crate::places::{Key, MadeUp};
use crate::random;
use crate::real::pass;

entries! {
    __VERIFIER_assume => assume;
    __VERIFIER_error => error;
    __VERIFIER_atomic_begin => begin;
    __VERIFIER_atomic_end => end;
    __VERIFIER_nondet_bool => any_bool;
    __VERIFIER_nondet_char => any_char;
    __VERIFIER_nondet_uchar => any_uchar;
    __VERIFIER_nondet_short => any_short;
    __VERIFIER_nondet_ushort => any_ushort;
    __VERIFIER_nondet_int => any_int;
    __VERIFIER_nondet_uint => any_uint;
    __VERIFIER_nondet_long => any_long;
    __VERIFIER_nondet_ulong => any_long;
    __VERIFIER_nondet_longlong => any_long;
    __VERIFIER_nondet_ulonglong => any_long;
    __VERIFIER_nondet_size_t => any_long;
}

extern "C" fn assume(condition: i32) {
    if condition != 0 {
        return;
    }
    match ops::enter() {
        Some(caller) => caller.discard(),
        // Nobody can take it back.
        None => pass!(c"exit", fn(i32) -> (), 0),
    }
}

extern "C" fn error() {
    let Some(caller) = ops::enter() else { return pass!(c"abort", fn() -> ()) };
    let place = caller.session().told_site(caller.site);
    caller.fail(Kind::Assertion { message: String::from("`__VERIFIER_error` is reached"), place });
}

/// Sections exclude each other, and nothing else.
extern "C" fn begin() {
    if let Some(caller) = ops::enter() {
        caller.take(Key::made_up(MadeUp::Sections), Op::lock(Addr::NONE, caller.site));
        caller.leave();
    } else if mode::mode() == Mode::Off {
        // SAFETY: a lock of the C library, made ready by its initial value.
        unsafe { libc::pthread_mutex_lock(&raw mut SECTIONS) };
    }
}

extern "C" fn end() {
    if let Some(caller) = ops::enter() {
        caller.take(Key::made_up(MadeUp::Sections), Op::unlock(Addr::NONE, caller.site));
        caller.leave();
    } else if mode::mode() == Mode::Off {
        // SAFETY: as above.
        unsafe { libc::pthread_mutex_unlock(&raw mut SECTIONS) };
    }
}

/// The lock of the sections where nothing is checked.
static mut SECTIONS: libc::pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;

/// Two values are few enough to explore both.
extern "C" fn any_bool() -> bool {
    let Some(caller) = ops::enter() else { return random::any() & 1 != 0 };
    let value = caller.choose(2);
    caller.leave();
    value != 0
}

macro_rules! numbers {
    ($($name:ident: $number:ty),* $(,)?) => {$(
        extern "C" fn $name() -> $number {
            random::any() as $number
        }
    )*};
}

numbers! {
    any_char: i8,
    any_uchar: u8,
    any_short: i16,
    any_ushort: u16,
    any_int: i32,
    any_uint: u32,
    any_long: u64,
}
