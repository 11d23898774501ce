//! System calls that programs make themselves; the one that matters waits for a word of memory to change.
//!
//! The kernel looks at the word and puts the thread to sleep in one step, as others see it. Here the thread joins the
//! set of those who wait, looks at the word, and leaves the set if it has changed. A fence on either side makes sure
//! that either the waker sees the thread in the set, or the thread sees what the waker wrote.

use unpick_core::op::{Addr, Mode as Order, Op};

use crate::entry::entries;
use crate::ops::{self, Caller};
use crate::places::{Key, MadeUp};
use crate::sys;
use crate::wakes::Until;

entries! {
    syscall => call;
}

const WAIT: usize = 0;
const WAKE: usize = 1;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
/// Bits that say whether other processes take part, and which clock is meant.
const FLAGS: usize = 0x180;

unsafe extern "C" fn call(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize) -> i64 {
    let Some(caller) = ops::enter() else {
        // SAFETY: the caller's arguments. The sixth is on the stack, where the entry hides it.
        return returned(unsafe { sys::call(number, [a, b, c, d, e, sixth()]) });
    };
    let result = match (number, b & !FLAGS) {
        (libc::SYS_futex, operation @ (WAIT | WAIT_BITSET)) => {
            let result = wait(&caller, a, c as u32, d != 0);
            if result == -(libc::ETIMEDOUT as isize) {
                // SAFETY: the caller's time, which is how long it waits, or until when.
                unsafe { time_out(&caller, d as *const libc::timespec, operation == WAIT) };
            }
            result
        }
        (libc::SYS_futex, WAKE | WAKE_BITSET) => wake(&caller, a, c),
        (libc::SYS_futex, other) => {
            caller.refuse(format!("operation {other} of the system call `futex` cannot be checked"))
        }
        (libc::SYS_getrandom, _) => {
            caller.leave();
            crate::random::fill(a as *mut u8, b);
            return b as i64;
        }
        (libc::SYS_clock_gettime, _) => {
            // SAFETY: the caller's pointer.
            unsafe { *(b as *mut libc::timespec) = crate::time::now(&caller) };
            0
        }
        (libc::SYS_gettid, _) => 1000 + caller.thread.0 as isize,
        (libc::SYS_sched_yield, _) => 0,
        // SAFETY: the caller's arguments.
        _ => unsafe { sys::call(number, [a, b, c, d, e, sixth()]) },
    };
    caller.leave();
    returned(result)
}

/// The last argument of `syscall`, the seventh of the function: the first on the stack of the caller.
fn sixth() -> usize {
    // SAFETY: above the return address, in the frame of the caller; if the call has fewer arguments, nobody uses it.
    unsafe { *((crate::entry::frame() + 56) as *const usize) }
}

/// What the C library makes of the result of a system call.
fn returned(result: isize) -> i64 {
    if (-4095..0).contains(&result) {
        // SAFETY: the place of the error number of this thread.
        unsafe { *libc::__errno_location() = -result as i32 };
        return -1;
    }
    result as i64
}

fn fence(caller: &Caller) {
    caller.take_other(&Op::fence(Order::SeqCst, caller.site));
}

fn wait(caller: &Caller, address: usize, expected: u32, timed: bool) -> isize {
    let set = Key::made_up(MadeUp::Queue(address));
    let word = Key { address, width: 4, kind: "futex" };
    caller.join_set(set, Order::SeqCst);
    fence(caller);
    let found = caller.take(word, Op::load(Addr::NONE, Order::SeqCst, caller.site));
    if found != u64::from(expected) {
        if !caller.leave_set(set) {
            // Somebody has taken it for a thread that sleeps, and wakes it.
            caller.await_signal(Order::Acquire);
        }
        return -(libc::EAGAIN as isize);
    }
    let until = if timed { Until::Time } else { Until::Woken };
    let woken = caller.wait_in_set(set, until, Order::Acquire);
    match woken || !timed {
        true => 0,
        false => -(libc::ETIMEDOUT as isize),
    }
}

/// Lets the clock go on by the time of a wait that has given up.
unsafe fn time_out(caller: &Caller, time: *const libc::timespec, relative: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        match relative {
            true => crate::time::pass_time(caller, crate::time::nanoseconds(&*time)),
            false => crate::time::reach(caller, time),
        }
    }
}

fn wake(caller: &Caller, address: usize, count: usize) -> isize {
    let set = Key::made_up(MadeUp::Queue(address));
    fence(caller);
    if count >= i32::MAX as usize {
        return caller.wake_all(set, Order::SeqCst) as isize;
    }
    let woken = (0..count).take_while(|_| caller.wake_one(set, Order::SeqCst)).count();
    woken as isize
}
