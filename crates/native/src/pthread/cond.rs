//! Condition variables. The first eight bytes are the set of threads that wait.

use unpick_core::op::Mode;

use super::mutex::{self, Mutex_};
use crate::entry::entries;
use crate::ops;
use crate::places::Key;
use crate::real::pass;
use crate::wakes::Until;

entries! {
    pthread_cond_init => init;
    pthread_cond_destroy => destroy;
    pthread_cond_wait => wait;
    pthread_cond_timedwait => wait_until;
    pthread_cond_clockwait => wait_until_clock;
    pthread_cond_signal => signal;
    pthread_cond_broadcast => broadcast;
}

type Cond = libc::pthread_cond_t;
type Time = *const libc::timespec;

fn set(cond: *mut Cond) -> Key {
    Key { address: cond as usize, width: 8, kind: "condition" }
}

pub(crate) unsafe extern "C" fn init(cond: *mut Cond, attributes: *const libc::pthread_condattr_t) -> i32 {
    let caller = ops::enter();
    if let Some(caller) = &caller {
        caller.touch(cond as usize, size_of::<Cond>(), true, caller.site);
    }
    type Attributes = *const libc::pthread_condattr_t;
    let code = pass!(c"pthread_cond_init", fn(*mut Cond, Attributes) -> i32, cond, attributes);
    if let Some(caller) = caller {
        caller.leave();
    }
    code
}

pub(crate) unsafe extern "C" fn destroy(cond: *mut Cond) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_cond_destroy", fn(*mut Cond) -> i32, cond);
    };
    caller.touch(cond as usize, 8, true, caller.site);
    caller.leave();
    0
}

/// Waits without the mutex; says whether the thread was woken by another.
unsafe fn sleep(caller: &ops::Caller, cond: *mut Cond, mutex: *mut Mutex_, until: Until) -> bool {
    caller.join_set(set(cond), Mode::Relaxed);
    // SAFETY: the caller's mutex.
    let count = unsafe { mutex::release(caller, mutex, true) }.unwrap_or(1);
    let woken = caller.wait_in_set(set(cond), until, Mode::Relaxed);
    // SAFETY: as above.
    unsafe { mutex::acquire_again(caller, mutex, count) };
    woken
}

pub(crate) unsafe extern "C" fn wait(cond: *mut Cond, mutex: *mut Mutex_) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_cond_wait", fn(*mut Cond, *mut Mutex_) -> i32, cond, mutex);
    };
    // SAFETY: the caller's arguments.
    unsafe { sleep(&caller, cond, mutex, Until::Woken) };
    caller.leave();
    0
}

unsafe fn wait_timed(caller: ops::Caller, cond: *mut Cond, mutex: *mut Mutex_, time: Time) -> i32 {
    // SAFETY: the caller's arguments.
    let code = unsafe {
        match crate::time::is_valid(time) {
            true if sleep(&caller, cond, mutex, Until::Time) => 0,
            _ => crate::time::give_up(&caller, time),
        }
    };
    caller.leave();
    code
}

pub(crate) unsafe extern "C" fn wait_until(cond: *mut Cond, mutex: *mut Mutex_, time: Time) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_cond_timedwait", fn(*mut Cond, *mut Mutex_, Time) -> i32, cond, mutex, time);
    };
    // SAFETY: the caller's arguments.
    unsafe { wait_timed(caller, cond, mutex, time) }
}

unsafe extern "C" fn wait_until_clock(cond: *mut Cond, mutex: *mut Mutex_, clock: i32, time: Time) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(
            c"pthread_cond_clockwait",
            fn(*mut Cond, *mut Mutex_, i32, Time) -> i32,
            cond,
            mutex,
            clock,
            time
        );
    };
    // SAFETY: the caller's arguments.
    unsafe { wait_timed(caller, cond, mutex, time) }
}

pub(crate) unsafe extern "C" fn signal(cond: *mut Cond) -> i32 {
    let Some(caller) = ops::enter() else { return pass!(c"pthread_cond_signal", fn(*mut Cond) -> i32, cond) };
    caller.wake_one(set(cond), Mode::Relaxed);
    caller.leave();
    0
}

pub(crate) unsafe extern "C" fn broadcast(cond: *mut Cond) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_cond_broadcast", fn(*mut Cond) -> i32, cond);
    };
    caller.wake_all(set(cond), Mode::Relaxed);
    caller.leave();
    0
}
