//! Barriers. The first eight bytes are the set of threads that have come; how many must come lies behind it.

use unpick_core::op::{Addr, Mode, Op, Rmw};
use unpick_core::violation::Kind;

use crate::entry::entries;
use crate::ops;
use crate::places::Key;
use crate::real::pass;

entries! {
    pthread_barrier_init => init;
    pthread_barrier_destroy => destroy;
    pthread_barrier_wait => wait;
}

/// A barrier, as it is laid out in a check.
#[repr(C)]
struct Barrier {
    set: u64,
    count: u32,
}

const _: () = assert!(size_of::<Barrier>() <= size_of::<libc::pthread_barrier_t>());

unsafe extern "C" fn init(
    barrier: *mut libc::pthread_barrier_t,
    attributes: *const libc::pthread_barrierattr_t,
    count: u32,
) -> i32 {
    let caller = ops::enter();
    if caller.is_none() && crate::mode::mode() != crate::mode::Mode::Before {
        type Attributes = *const libc::pthread_barrierattr_t;
        type Pointer = *mut libc::pthread_barrier_t;
        return pass!(
            c"pthread_barrier_init",
            fn(Pointer, Attributes, u32) -> i32,
            barrier,
            attributes,
            count
        );
    }
    if let Some(caller) = &caller {
        caller.touch(barrier as usize, size_of::<Barrier>(), true, caller.site);
    }
    let made = count > 0;
    if made {
        // SAFETY: the caller's barrier.
        unsafe { *barrier.cast() = Barrier { set: 0, count } };
    }
    if let Some(caller) = caller {
        caller.leave();
    }
    if made { 0 } else { libc::EINVAL }
}

unsafe extern "C" fn destroy(barrier: *mut libc::pthread_barrier_t) -> i32 {
    let Some(caller) = ops::enter() else {
        if crate::mode::mode() != crate::mode::Mode::Off {
            return 0;
        }
        return pass!(c"pthread_barrier_destroy", fn(*mut libc::pthread_barrier_t) -> i32, barrier);
    };
    caller.touch(barrier as usize, size_of::<Barrier>(), true, caller.site);
    // SAFETY: the caller's barrier.
    unsafe { (*barrier.cast::<Barrier>()).count = 0 };
    caller.leave();
    0
}

unsafe extern "C" fn wait(barrier: *mut libc::pthread_barrier_t) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_barrier_wait", fn(*mut libc::pthread_barrier_t) -> i32, barrier);
    };
    let set = Key { address: barrier as usize, width: 8, kind: "barrier" };
    // SAFETY: the caller's barrier, whose count does not change.
    let count = unsafe { (*barrier.cast::<Barrier>()).count };
    if count == 0 {
        let problem = String::from("a barrier is waited at that was not initialised, or was destroyed");
        caller.fail(Kind::Crash { problem });
    }
    let bit = caller.bit();
    let others = caller.take(set, Op::rmw(Addr::NONE, Rmw::Or, Mode::AcqRel, bit, caller.site));
    let is_last = others.count_ones() + 1 >= count;
    if is_last {
        caller.take(set, Op::store(Addr::NONE, Mode::Relaxed, 0, caller.site));
        caller.send_signals(others, Mode::Release);
    } else {
        caller.await_signal(Mode::Acquire);
    }
    caller.leave();
    if is_last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
}
