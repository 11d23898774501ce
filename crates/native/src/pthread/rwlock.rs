//! Locks that many may read and one may write.
//!
//! A byte of the lock is a location for each thread that reads: a reader takes its own, a writer takes all of them in
//! turn, and if nobody reads, the first. So readers have nothing to do with each other: they commute, and do not
//! synchronise. Which threads read is a fact that the exploration finds out.

use unpick_core::op::{Addr, Mode, Op, TAKEN, Value};
use unpick_core::violation::Wait;

use crate::entry::entries;
use crate::facts::Fact;
use crate::ops::{self, Caller};
use crate::places::Key;
use crate::real::pass;

entries! {
    pthread_rwlock_init => init;
    pthread_rwlock_destroy => destroy;
    pthread_rwlock_rdlock => read;
    pthread_rwlock_tryrdlock => try_read;
    pthread_rwlock_timedrdlock => read_until;
    pthread_rwlock_clockrdlock => read_until_clock;
    pthread_rwlock_wrlock => write;
    pthread_rwlock_trywrlock => try_write;
    pthread_rwlock_timedwrlock => write_until;
    pthread_rwlock_clockwrlock => write_until_clock;
    pthread_rwlock_unlock => unlock;
}

type Lock = libc::pthread_rwlock_t;
type Time = *const libc::timespec;

/// Locations of a lock.
const SLOTS: usize = 32;

fn key(lock: *mut Lock, slot: usize) -> Key {
    Key { address: lock as usize + slot, width: 1, kind: "rwlock" }
}

/// The location of the calling thread, which reads.
fn own_slot(caller: &Caller) -> usize {
    let number = caller.number_of(caller.thread.index());
    let bit = 1u64.checked_shl(number).unwrap_or(0);
    let before = caller.fact(Fact::Readers) & bit.wrapping_sub(1);
    let slot = before.count_ones() as usize;
    if bit == 0 || slot >= SLOTS {
        caller.refuse(String::from("more than 32 threads take a lock for reading; use fewer threads"));
    }
    caller.learn(Fact::Readers, bit);
    slot
}

/// How many locations a writer takes.
fn slots(caller: &Caller) -> usize {
    (caller.fact(Fact::Readers).count_ones() as usize).clamp(1, SLOTS)
}

/// Takes the lock for reading; `waits`: as soon as nobody writes.
fn take_to_read(caller: &Caller, lock: *mut Lock, waits: bool) -> i32 {
    let slot = own_slot(caller);
    let address = lock as usize;
    let reads = || &mut caller.session().threads[caller.thread.index()].reads;
    if let Some((_, count)) = reads().iter_mut().find(|(known, _)| *known == address) {
        *count += 1;
        return 0;
    }
    let op = match waits {
        true => Op::lock(Addr::NONE, caller.site),
        false => Op::try_lock(Addr::NONE, caller.site),
    };
    if caller.take(key(lock, slot), op) == TAKEN {
        return libc::EBUSY;
    }
    reads().push((address, 1));
    0
}

/// Takes the lock for writing; `waits`: as soon as nobody has it.
fn take_to_write(caller: &Caller, lock: *mut Lock, waits: bool) -> i32 {
    let count = slots(caller);
    if waits {
        for slot in 0..count {
            caller.take(key(lock, slot), Op::lock(Addr::NONE, caller.site));
        }
        return 0;
    }
    let try_lock = |slot| caller.take(key(lock, slot), Op::try_lock(Addr::NONE, caller.site)) == 0;
    if count == 1 {
        return if try_lock(0) { 0 } else { libc::EBUSY };
    }
    // Taking one after the other, and giving them back when one is not free, would be seen by others. So it is
    // guessed whether all are free, or which one is not; where that is wrong, the execution is given up.
    let nth = caller.take_other(&Op::guess(count as Value + 1, caller.site)) as usize;
    let is_right = match nth.checked_sub(1) {
        None => (0..count).all(try_lock),
        Some(slot) => caller.take(key(lock, slot), Op::load(Addr::NONE, Mode::Relaxed, caller.site)) != 0,
    };
    if !is_right {
        caller.stop(Wait::Assume);
    }
    if nth == 0 { 0 } else { libc::EBUSY }
}

fn give_back(caller: &Caller, lock: *mut Lock) {
    let address = lock as usize;
    let reads = &mut caller.session().threads[caller.thread.index()].reads;
    let unlock = |slot| caller.take(key(lock, slot), Op::unlock(Addr::NONE, caller.site));
    match reads.iter().position(|(known, _)| *known == address) {
        Some(hold) if reads[hold].1 > 1 => reads[hold].1 -= 1,
        Some(hold) => {
            reads.swap_remove(hold);
            unlock(own_slot(caller));
        }
        None => {
            for slot in 0..slots(caller) {
                unlock(slot);
            }
        }
    }
}

unsafe extern "C" fn init(lock: *mut Lock, attributes: *const libc::pthread_rwlockattr_t) -> i32 {
    let caller = ops::enter();
    if let Some(caller) = &caller {
        caller.touch(lock as usize, size_of::<Lock>(), true, caller.site);
    }
    type Attributes = *const libc::pthread_rwlockattr_t;
    let code = pass!(c"pthread_rwlock_init", fn(*mut Lock, Attributes) -> i32, lock, attributes);
    if let Some(caller) = caller {
        caller.leave();
    }
    code
}

unsafe extern "C" fn destroy(lock: *mut Lock) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_rwlock_destroy", fn(*mut Lock) -> i32, lock);
    };
    caller.touch(lock as usize, slots(&caller), true, caller.site);
    caller.leave();
    0
}

/// Defines a function that takes the lock: its name, what it stands for, its arguments, how it takes the lock, whether it
/// waits, and until when.
macro_rules! takes {
    ($($function:ident $name:literal ($($argument:ident: $type:ty),*) $take:ident, $waits:literal, $until:expr;)*) => { $(
        unsafe extern "C" fn $function(lock: *mut Lock $(, $argument: $type)*) -> i32 {
            let Some(caller) = ops::enter() else {
                return pass!($name, fn(*mut Lock $(, $type)*) -> i32, lock $(, $argument)*);
            };
            let until: Option<Time> = $until;
            let mut code = $take(&caller, lock, $waits || (until.is_some() && caller.session().limits.patient));
            if let (libc::EBUSY, Some(time)) = (code, until) {
                // SAFETY: the caller's time.
                code = unsafe { crate::time::give_up(&caller, time) };
            }
            caller.leave();
            code
        }
    )* };
}

takes! {
    read c"pthread_rwlock_rdlock" () take_to_read, true, None;
    try_read c"pthread_rwlock_tryrdlock" () take_to_read, false, None;
    read_until c"pthread_rwlock_timedrdlock" (time: Time) take_to_read, false, Some(time);
    read_until_clock c"pthread_rwlock_clockrdlock" (clock: i32, time: Time) take_to_read, false, Some(time);
    write c"pthread_rwlock_wrlock" () take_to_write, true, None;
    try_write c"pthread_rwlock_trywrlock" () take_to_write, false, None;
    write_until c"pthread_rwlock_timedwrlock" (time: Time) take_to_write, false, Some(time);
    write_until_clock c"pthread_rwlock_clockwrlock" (clock: i32, time: Time) take_to_write, false, Some(time);
}

unsafe extern "C" fn unlock(lock: *mut Lock) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_rwlock_unlock", fn(*mut Lock) -> i32, lock);
    };
    give_back(&caller, lock);
    caller.leave();
    0
}
