//! Static variables of functions, which C++ initialises once.
//!
//! The first byte of a guard says that it is done; compiled code looks at it. The second word is ours: 0 at first, 1
//! while a thread initialises the variable, and 2 when it is done.

use unpick_core::op::{Addr, Mode as Order, Op};

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops;
use crate::places::Key;
use crate::real::pass;

entries! {
    __cxa_guard_acquire => acquire;
    __cxa_guard_release => release;
    __cxa_guard_abort => abort;
}

const DONE: u64 = 2;

fn word(guard: usize) -> Key {
    Key { address: guard + 4, width: 4, kind: "static" }
}

fn byte(guard: usize) -> Key {
    Key { address: guard, width: 1, kind: "static" }
}

extern "C" fn acquire(guard: usize) -> i32 {
    let Some(caller) = ops::enter() else {
        if mode::mode() == Mode::Off {
            return pass!(c"__cxa_guard_acquire", fn(usize) -> i32, guard);
        }
        // SAFETY: the caller's guard.
        return i32::from(unsafe { *(guard as *const u8) } == 0);
    };
    // SAFETY: the caller's guard. It may have been done before `main`, when nobody looked at the second word.
    let done = unsafe { *(guard as *const u8) != 0 && *((guard + 4) as *const u32) == 0 };
    let first = !done && caller.take(word(guard), Op::enter(Addr::NONE, 0, caller.site)) == 0;
    caller.leave();
    i32::from(first)
}

extern "C" fn release(guard: usize) {
    let Some(caller) = ops::enter() else {
        if mode::mode() == Mode::Off {
            return pass!(c"__cxa_guard_release", fn(usize) -> (), guard);
        }
        // SAFETY: the caller's guard.
        unsafe { *(guard as *mut u8) = 1 };
        return;
    };
    caller.take(byte(guard), Op::store(Addr::NONE, Order::Release, 1, caller.site));
    caller.take(word(guard), Op::leave(Addr::NONE, DONE, caller.site));
    caller.leave();
}

extern "C" fn abort(guard: usize) {
    let Some(caller) = ops::enter() else {
        if mode::mode() == Mode::Off {
            pass!(c"__cxa_guard_abort", fn(usize) -> (), guard);
        }
        return;
    };
    caller.take(word(guard), Op::leave(Addr::NONE, 0, caller.site));
    caller.leave();
}
