//! Mutexes.
//!
//! The first word of a mutex is its location: 0 is free, 1 is taken. The owner and how often it has locked lie in
//! the mutex as well, and are looked at by the owner only; so a mutex that is copied over, or made anew without a
//! call, is what its bytes say.

pub(crate) mod all;

use unpick_core::op::{Addr, Mode, Op, TAKEN};

use crate::entry::entries;
use crate::facts::Fact;
use crate::ops::{self, Caller};
use crate::places::Key;
use crate::real::pass;

/// A mutex, as the C library lays it out.
#[repr(C)]
struct Mutex {
    lock: u32,
    count: u32,
    owner: u32,
    users: u32,
    kind: u32,
}

const RECURSIVE: u32 = 1;
const ERROR_CHECKING: u32 = 2;
/// Bits of the kind that tell these apart.
const KINDS: u32 = 3;
/// Bits of kinds that are not supported: robust mutexes, and those with priorities.
const UNSUPPORTED: u32 = 0x10 | 0x20 | 0x40;

entries! {
    pthread_mutex_init => init;
    pthread_mutex_destroy => destroy;
    pthread_mutex_lock => lock;
    pthread_mutex_trylock => try_lock;
    pthread_mutex_timedlock => lock_until;
    pthread_mutex_clocklock => lock_until_clock;
    pthread_mutex_unlock => unlock;
}

fn key(mutex: *mut Mutex) -> Key {
    Key { address: mutex as usize, width: 4, kind: "mutex" }
}

/// What the owner of a mutex is called in it.
fn owner(caller: &Caller) -> u32 {
    caller.thread.0 + 1
}

/// Takes a mutex for a thread under test; `waits`: as soon as it is free.
///
/// # Safety
///
/// The pointer is to a mutex.
pub(crate) unsafe fn acquire(caller: &Caller, mutex: *mut Mutex_, waits: bool) -> i32 {
    let mutex = mutex.cast::<Mutex>();
    caller.touch_own(mutex as usize, size_of::<Mutex>());
    // SAFETY: the caller's promise.
    let (kind, held) = unsafe { ((*mutex).kind, (*mutex).owner == owner(caller)) };
    if kind & UNSUPPORTED != 0 {
        caller.refuse(String::from(
            "robust mutexes and mutexes with priorities cannot be checked; use an ordinary one",
        ));
    }
    if held {
        match kind & KINDS {
            RECURSIVE => {
                // SAFETY: as above; the owner calls.
                unsafe { (*mutex).count += 1 };
                return 0;
            }
            ERROR_CHECKING if waits => return libc::EDEADLK,
            _ => {}
        }
    }
    if !waits && caller.session().tries(mutex.cast()) {
        caller.learn(Fact::TriesTogether, 1);
    }
    let op = match waits {
        true => Op::lock(Addr::NONE, caller.site),
        false => Op::try_lock(Addr::NONE, caller.site),
    };
    if caller.take(key(mutex), op) == TAKEN {
        return libc::EBUSY;
    }
    // SAFETY: as above; the caller owns the mutex now.
    unsafe {
        (*mutex).owner = owner(caller);
        (*mutex).count = 1;
    }
    0
}

/// Gives a mutex back; returns how often it was locked if it is given back as a whole.
///
/// # Safety
///
/// The pointer is to a mutex.
pub(crate) unsafe fn release(caller: &Caller, mutex: *mut Mutex_, whole: bool) -> Result<u32, i32> {
    let mutex = mutex.cast::<Mutex>();
    caller.touch_own(mutex as usize, size_of::<Mutex>());
    // SAFETY: the caller's promise.
    let (kind, count, held) = unsafe { ((*mutex).kind, (*mutex).count, (*mutex).owner == owner(caller)) };
    if !held && kind & KINDS != 0 {
        return Err(libc::EPERM);
    }
    if held && count > 1 && !whole {
        // SAFETY: as above; the owner calls.
        unsafe { (*mutex).count = count - 1 };
        return Ok(0);
    }
    if held {
        // SAFETY: as above.
        unsafe {
            (*mutex).owner = 0;
            (*mutex).count = 0;
        }
    }
    caller.take(key(mutex), Op::unlock(Addr::NONE, caller.site));
    Ok(count)
}

/// Takes a mutex that was given back as a whole, as often as it was locked before.
///
/// # Safety
///
/// The pointer is to a mutex.
pub(crate) unsafe fn acquire_again(caller: &Caller, mutex: *mut Mutex_, count: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        acquire(caller, mutex, true);
        (*mutex.cast::<Mutex>()).count = count;
    }
}

/// A mutex of the program.
pub(crate) type Mutex_ = libc::pthread_mutex_t;

pub(crate) unsafe extern "C" fn init(
    mutex: *mut Mutex_,
    attributes: *const libc::pthread_mutexattr_t,
) -> i32 {
    let caller = ops::enter();
    if let Some(caller) = &caller {
        caller.touch(mutex as usize, size_of::<Mutex_>(), true, caller.site);
    }
    type Attributes = *const libc::pthread_mutexattr_t;
    let code = pass!(c"pthread_mutex_init", fn(*mut Mutex_, Attributes) -> i32, mutex, attributes);
    if let Some(caller) = caller {
        caller.leave();
    }
    code
}

pub(crate) unsafe extern "C" fn destroy(mutex: *mut Mutex_) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_mutex_destroy", fn(*mut Mutex_) -> i32, mutex);
    };
    // Whether it is taken depends on others, so the answer belongs to the execution.
    let taken = caller.take(key(mutex.cast()), Op::load(Addr::NONE, Mode::Relaxed, caller.site)) != 0;
    if !taken {
        caller.touch(mutex as usize, size_of::<Mutex>(), true, caller.site);
    }
    caller.leave();
    if taken { libc::EBUSY } else { 0 }
}

pub(crate) unsafe extern "C" fn lock(mutex: *mut Mutex_) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_mutex_lock", fn(*mut Mutex_) -> i32, mutex);
    };
    // SAFETY: the caller's argument.
    let code = unsafe { acquire(&caller, mutex, true) };
    caller.leave();
    code
}

pub(crate) unsafe extern "C" fn try_lock(mutex: *mut Mutex_) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_mutex_trylock", fn(*mut Mutex_) -> i32, mutex);
    };
    // SAFETY: the caller's argument.
    let code = unsafe { acquire(&caller, mutex, false) };
    caller.leave();
    code
}

/// A lock with a limit on time: it finds the mutex free, or gives up. Waiting and then taking it is the same as
/// coming later.
unsafe fn lock_timed(caller: Caller, mutex: *mut Mutex_, time: *const libc::timespec) -> i32 {
    // SAFETY: the caller's arguments.
    let code = unsafe {
        match acquire(&caller, mutex, caller.session().limits.patient) {
            // One that checks for errors says so at once.
            libc::EBUSY if is_held(&caller, mutex.cast(), ERROR_CHECKING) => libc::EDEADLK,
            libc::EBUSY => crate::time::give_up(&caller, time),
            code => code,
        }
    };
    caller.leave();
    code
}

/// Whether the caller holds a mutex of this kind.
unsafe fn is_held(caller: &Caller, mutex: *mut Mutex, kind: u32) -> bool {
    // SAFETY: the caller's argument.
    unsafe { (*mutex).kind & KINDS == kind && (*mutex).owner == owner(caller) }
}

pub(crate) unsafe extern "C" fn lock_until(mutex: *mut Mutex_, time: *const libc::timespec) -> i32 {
    let Some(caller) = ops::enter() else {
        type Time = *const libc::timespec;
        return pass!(c"pthread_mutex_timedlock", fn(*mut Mutex_, Time) -> i32, mutex, time);
    };
    // SAFETY: the caller's argument.
    unsafe { lock_timed(caller, mutex, time) }
}

unsafe extern "C" fn lock_until_clock(mutex: *mut Mutex_, clock: i32, time: *const libc::timespec) -> i32 {
    let Some(caller) = ops::enter() else {
        type Time = *const libc::timespec;
        return pass!(c"pthread_mutex_clocklock", fn(*mut Mutex_, i32, Time) -> i32, mutex, clock, time);
    };
    // SAFETY: the caller's argument.
    unsafe { lock_timed(caller, mutex, time) }
}

pub(crate) unsafe extern "C" fn unlock(mutex: *mut Mutex_) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_mutex_unlock", fn(*mut Mutex_) -> i32, mutex);
    };
    // SAFETY: the caller's argument.
    let code = unsafe { release(&caller, mutex, false) };
    caller.leave();
    code.err().unwrap_or(0)
}
