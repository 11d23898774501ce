//! Spinlocks: a word, which is 0 when the lock is free. Waiting is not spinning here.

use unpick_core::op::{Addr, Op, TAKEN};

use crate::entry::entries;
use crate::mode;
use crate::ops;
use crate::places::Key;
use crate::real::pass;

entries! {
    pthread_spin_init => init;
    pthread_spin_destroy => destroy;
    pthread_spin_lock => lock;
    pthread_spin_trylock => try_lock;
    pthread_spin_unlock => unlock;
}

type Spinlock = u32;

fn key(lock: *mut Spinlock) -> Key {
    Key { address: lock as usize, width: 4, kind: "spinlock" }
}

unsafe extern "C" fn init(lock: *mut Spinlock, shared: i32) -> i32 {
    let caller = ops::enter();
    if caller.is_none() && mode::mode() != mode::Mode::Before {
        return pass!(c"pthread_spin_init", fn(*mut Spinlock, i32) -> i32, lock, shared);
    }
    if let Some(caller) = &caller {
        caller.touch(lock as usize, 4, true, caller.site);
    }
    // SAFETY: the caller's lock.
    unsafe { *lock = 0 };
    if let Some(caller) = caller {
        caller.leave();
    }
    0
}

unsafe extern "C" fn destroy(lock: *mut Spinlock) -> i32 {
    if let Some(caller) = ops::enter() {
        caller.touch(lock as usize, 4, true, caller.site);
        caller.leave();
    }
    0
}

unsafe extern "C" fn lock(lock: *mut Spinlock) -> i32 {
    let Some(caller) = ops::enter() else {
        if mode::mode() != mode::Mode::Off {
            return 0;
        }
        return pass!(c"pthread_spin_lock", fn(*mut Spinlock) -> i32, lock);
    };
    caller.take(key(lock), Op::lock(Addr::NONE, caller.site));
    caller.leave();
    0
}

unsafe extern "C" fn try_lock(lock: *mut Spinlock) -> i32 {
    let Some(caller) = ops::enter() else {
        if mode::mode() != mode::Mode::Off {
            return 0;
        }
        return pass!(c"pthread_spin_trylock", fn(*mut Spinlock) -> i32, lock);
    };
    let old = caller.take(key(lock), Op::try_lock(Addr::NONE, caller.site));
    caller.leave();
    if old == TAKEN { libc::EBUSY } else { 0 }
}

unsafe extern "C" fn unlock(lock: *mut Spinlock) -> i32 {
    let Some(caller) = ops::enter() else {
        if mode::mode() != mode::Mode::Off {
            return 0;
        }
        return pass!(c"pthread_spin_unlock", fn(*mut Spinlock) -> i32, lock);
    };
    caller.take(key(lock), Op::unlock(Addr::NONE, caller.site));
    caller.leave();
    0
}
