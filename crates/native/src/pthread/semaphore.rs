//! Semaphores. The first word is the number of permits.

use unpick_core::op::{Addr, Mode, Op, Rmw, Value};

use crate::entry::entries;
use crate::mode;
use crate::ops::{self, Caller};
use crate::places::Key;
use crate::real::pass;

entries! {
    sem_init => init;
    sem_destroy => destroy;
    sem_wait => wait;
    sem_trywait => try_wait;
    sem_timedwait => wait_until;
    sem_clockwait => wait_until_clock;
    sem_post => post;
    sem_getvalue => value;
}

type Semaphore = libc::sem_t;
type Time = *const libc::timespec;

/// Permits at most.
const MOST: u32 = i32::MAX as u32;

fn key(semaphore: *mut Semaphore) -> Key {
    Key { address: semaphore as usize, width: 4, kind: "semaphore" }
}

/// Says that a call has failed.
fn fail(caller: &Caller, code: i32) -> i32 {
    caller.set_error(code);
    -1
}

/// Takes a permit if there is one; `waits`: the caller waits until there is.
fn take(caller: &Caller, semaphore: *mut Semaphore, waits: bool) -> bool {
    let any = Value::from(u32::MAX);
    let op = Op::add_if(Addr::NONE, (Mode::Acquire, Mode::Relaxed), any, any, caller.site);
    caller.take_in_loop(key(semaphore), op, waits) != 0
}

unsafe extern "C" fn init(semaphore: *mut Semaphore, shared: i32, count: u32) -> i32 {
    let Some(caller) = ops::enter() else {
        if mode::mode() == mode::Mode::Before {
            // SAFETY: the caller's semaphore.
            unsafe { *semaphore.cast::<u32>() = count };
            return 0;
        }
        return pass!(c"sem_init", fn(*mut Semaphore, i32, u32) -> i32, semaphore, shared, count);
    };
    let good = count <= MOST;
    if good {
        caller.touch(semaphore as usize, 4, true, caller.site);
        // SAFETY: the caller's semaphore.
        unsafe { *semaphore.cast::<u32>() = count };
    }
    let code = if good { 0 } else { fail(&caller, libc::EINVAL) };
    caller.leave();
    code
}

unsafe extern "C" fn destroy(semaphore: *mut Semaphore) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"sem_destroy", fn(*mut Semaphore) -> i32, semaphore);
    };
    caller.touch(semaphore as usize, 4, true, caller.site);
    caller.leave();
    0
}

unsafe extern "C" fn wait(semaphore: *mut Semaphore) -> i32 {
    let Some(caller) = ops::enter() else { return pass!(c"sem_wait", fn(*mut Semaphore) -> i32, semaphore) };
    wait_for_permit(&caller, semaphore);
    caller.leave();
    0
}

/// Takes a permit as soon as there is one.
fn wait_for_permit(caller: &Caller, semaphore: *mut Semaphore) {
    loop {
        let from = caller.position();
        if take(caller, semaphore, true) {
            break;
        }
        let inside = || &mut caller.session().threads[caller.thread.index()].inside;
        *inside() = true;
        caller.wait_for_change(from);
        *inside() = false;
    }
}

/// Takes a permit, or gives up.
unsafe fn take_until(caller: Caller, semaphore: *mut Semaphore, time: Time) -> i32 {
    if caller.session().limits.patient {
        wait_for_permit(&caller, semaphore);
        caller.leave();
        return 0;
    }
    let taken = take(&caller, semaphore, false);
    // SAFETY: the caller's time.
    let code = if taken { 0 } else { fail(&caller, unsafe { crate::time::give_up(&caller, time) }) };
    caller.leave();
    code
}

unsafe extern "C" fn try_wait(semaphore: *mut Semaphore) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"sem_trywait", fn(*mut Semaphore) -> i32, semaphore);
    };
    let code = if take(&caller, semaphore, false) { 0 } else { fail(&caller, libc::EAGAIN) };
    caller.leave();
    code
}

unsafe extern "C" fn wait_until(semaphore: *mut Semaphore, time: Time) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"sem_timedwait", fn(*mut Semaphore, Time) -> i32, semaphore, time);
    };
    // SAFETY: the caller's arguments.
    unsafe { take_until(caller, semaphore, time) }
}

unsafe extern "C" fn wait_until_clock(semaphore: *mut Semaphore, clock: i32, time: Time) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"sem_clockwait", fn(*mut Semaphore, i32, Time) -> i32, semaphore, clock, time);
    };
    // SAFETY: the caller's arguments.
    unsafe { take_until(caller, semaphore, time) }
}

unsafe extern "C" fn post(semaphore: *mut Semaphore) -> i32 {
    let Some(caller) = ops::enter() else { return pass!(c"sem_post", fn(*mut Semaphore) -> i32, semaphore) };
    let old = caller.take(key(semaphore), Op::rmw(Addr::NONE, Rmw::Add, Mode::Release, 1, caller.site));
    let most = old >= Value::from(MOST);
    if most {
        // There was no room: as before.
        caller.take(key(semaphore), Op::rmw(Addr::NONE, Rmw::Sub, Mode::Relaxed, 1, caller.site));
    }
    let code = if most { fail(&caller, libc::EOVERFLOW) } else { 0 };
    caller.leave();
    code
}

unsafe extern "C" fn value(semaphore: *mut Semaphore, place: *mut i32) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"sem_getvalue", fn(*mut Semaphore, *mut i32) -> i32, semaphore, place);
    };
    let value = caller.take(key(semaphore), Op::load(Addr::NONE, Mode::Relaxed, caller.site));
    caller.touch_own(place as usize, size_of::<i32>());
    caller.leave();
    // SAFETY: the caller's pointer.
    unsafe { *place = value as i32 };
    0
}
