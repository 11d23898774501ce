//! `RwLock`, as in [`std::sync`].
//!
//! A lock location for each thread that reads: a reader takes its own, a writer takes all of them in
//! turn, and if nobody reads, the first. So readers have nothing to do with each other: they commute,
//! and do not synchronise. Which threads read is a fact that the exploration finds out.

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use unpick_core::op::{Addr, Mode, Op, Site, Value};
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::queues;
use unpick_runtime::{Tag, panics};

use super::poison::Poison;
use crate::here;

/// Locations of a lock; readers beyond share the last.
const SLOTS: usize = 32;

const KIND: &str = "RwLock";

/// How often a thread, by its number plus one, reads through a location.
type Hold = Cell<(u32, u32)>;

/// What changes in memory besides the value.
struct State {
    /// Looked at without the lock.
    poisoned: AtomicBool,
    holds: [Hold; SLOTS],
}

/// What a lock guards.
#[repr(C)]
struct Contents<T: ?Sized> {
    state: State,
    value: UnsafeCell<T>,
}

/// What a lock is made of besides its contents.
struct Parts {
    slots: [Tag; SLOTS],
    poison: Poison,
    outside: std::sync::RwLock<()>,
}

/// A lock that many may read and one may write, as [`std::sync::RwLock`].
///
/// Inside a check, whoever waits may be next. Giving the lock back synchronises with the next
/// locking, except that readers do not synchronise with readers. Poisoning is as in `std`: only a
/// writer that panics leaves it.
///
/// A writer that waits may keep out readers that come later, as in `std`, where that is up to the
/// system. So a thread that reads while it reads already may wait for a writer that waits for it: that is a deadlock, and
/// found. Its [`try_read`](RwLock::try_read) always succeeds, which the verdict says. Of threads that read and wait for one
/// another, only some orders are explored in which a writer comes between. Where more than one thread reads, each
/// [`try_write`](RwLock::try_write) costs some executions that are given up. Beyond
/// 32 threads that read, those that come later must not do so at the same time.
///
/// ```
/// use unpick::sync::{Arc, RwLock};
/// use unpick::thread;
///
/// unpick::check(|| {
///     let lock = Arc::new(RwLock::new(1));
///     let theirs = Arc::clone(&lock);
///     let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
///     let seen = *lock.read().unwrap();
///     assert!(seen == 1 || seen == 2);
///     writer.join().unwrap();
///     assert_eq!(*lock.read().unwrap(), 2);
/// });
/// ```
pub struct RwLock<T: ?Sized> {
    parts: Parts,
    contents: Contents<T>,
}

// SAFETY: as for `std::sync::RwLock`: the lock, of the engine or of `std`, keeps writers apart from
// all others.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// A free lock with a value.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock {
            parts: Parts {
                slots: [const { Tag::new() }; SLOTS],
                poison: Poison::new(),
                outside: std::sync::RwLock::new(()),
            },
            contents: Contents {
                state: State {
                    poisoned: AtomicBool::new(false),
                    holds: [const { Cell::new((0, 0)) }; SLOTS],
                },
                value: UnsafeCell::new(value),
            },
        }
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it wrote.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.contents.state.poisoned.load(Ordering::Relaxed);
        let value = self.contents.value.into_inner();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading, waiting until nobody writes.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it wrote.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if ops::in_check() {
            let site = here!();
            let slot = own_slot();
            if self.reads(slot) {
                queues::read_again(self.address(), facts::bit_of::<T>, &self.parts.slots[slot], site);
            }
            if !self.read_again(slot) {
                ops::on_object(self.object(slot), 0, Op::lock(Addr::NONE, site));
                self.contents.state.holds[slot].set((reader(), 1));
            }
            return self.read_guard(None, site);
        }
        self.parts.assert_outside();
        let outside = self.parts.outside.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.read_guard(Some(outside), Site(0))
    }

    /// Takes the lock for reading if nobody writes, or waits to write: as in `std`, it may fail then.
    ///
    /// # Errors
    ///
    /// When somebody does, or a thread panicked while it wrote.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if ops::in_check() {
            let site = here!();
            let slot = own_slot();
            if self.reads(slot) {
                queues::try_again(facts::bit_of::<T>, site);
            }
            if !self.read_again(slot) {
                if ops::on_object(self.object(slot), 0, Op::try_lock(Addr::NONE, site)) != 0 {
                    self.contents.state.holds[slot].set((0, 0));
                    return Err(TryLockError::WouldBlock);
                }
                self.contents.state.holds[slot].set((reader(), 1));
            }
            return Ok(self.read_guard(None, site)?);
        }
        self.parts.assert_outside();
        let outside = match self.parts.outside.try_read() {
            Ok(outside) => outside,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        Ok(self.read_guard(Some(outside), Site(0))?)
    }

    /// Takes the lock for writing, waiting until nobody else has it.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it wrote.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        if ops::in_check() {
            let site = here!();
            queues::write(self.address(), facts::bit_of::<T>, || {
                for slot in 0..slot_count() {
                    ops::on_object(self.object(slot), 0, Op::lock(Addr::NONE, site));
                }
            });
            return self.write_guard(None, site);
        }
        self.parts.assert_outside();
        let outside = self.parts.outside.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.write_guard(Some(outside), Site(0))
    }

    /// Takes the lock for writing if nobody has it.
    ///
    /// # Errors
    ///
    /// When somebody has it, or a thread panicked while it wrote.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if ops::in_check() {
            let site = here!();
            if !self.try_all(site) {
                return Err(TryLockError::WouldBlock);
            }
            return Ok(self.write_guard(None, site)?);
        }
        self.parts.assert_outside();
        let outside = match self.parts.outside.try_write() {
            Ok(outside) => outside,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        Ok(self.write_guard(Some(outside), Site(0))?)
    }

    /// Whether a thread panicked while it wrote.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.parts.poison.look(&self.contents.state.poisoned, here!())
    }

    /// Forgets that a thread panicked while it wrote.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.parts.poison.clear(&self.contents.state.poisoned, here!());
    }

    /// The value, which nobody else can use meanwhile.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it wrote.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.contents.state.poisoned.load(Ordering::Relaxed);
        let value = self.contents.value.get_mut();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }

    fn object(&self, slot: usize) -> Object<'_> {
        let contents = (&raw const self.contents).cast_mut().cast::<u8>();
        let contents = (contents, size_of_val(&self.contents));
        Object { tag: &self.parts.slots[slot], kind: KIND, contents }
    }

    /// Takes all locations if they are free.
    ///
    /// Taking one after the other, and giving them back when one is not free, would be seen by
    /// others. So it is chosen whether all are free, or which one is not; where that turns out to be
    /// wrong, the execution is given up.
    fn try_all(&self, site: Site) -> bool {
        let count = slot_count();
        let try_lock = |slot| ops::on_object(self.object(slot), 0, Op::try_lock(Addr::NONE, site)) == 0;
        if count == 1 {
            return try_lock(0);
        }
        let load = Op::load(Addr::NONE, Mode::Relaxed, site);
        let nth = ops::guess(count as Value + 1, site) as usize;
        let is_right = match nth.checked_sub(1) {
            None => (0..count).all(try_lock),
            Some(slot) => ops::on_object(self.object(slot), 0, load) != 0,
        };
        if !is_right {
            ops::give_up(site);
        }
        nth == 0
    }

    /// What the lock is known by.
    fn address(&self) -> usize {
        (&raw const self.parts).addr()
    }

    /// Whether the calling thread reads already.
    fn reads(&self, slot: usize) -> bool {
        let (holder, count) = self.contents.state.holds[slot].get();
        holder == reader() && count > 0
    }

    /// Reads once more if the calling thread reads already.
    fn read_again(&self, slot: usize) -> bool {
        let again = self.reads(slot);
        let hold = &self.contents.state.holds[slot];
        let (holder, count) = hold.get();
        if again {
            hold.set((holder, count + 1));
        } else if slot == SLOTS - 1 {
            // Those who share a location would wait for each other.
            if holder != 0 {
                ops::refuse("more than 32 threads read, and two of the late ones at once; use fewer threads");
            }
            hold.set((reader(), 0));
        }
        again
    }

    fn read_guard<'a>(
        &'a self,
        outside: Option<std::sync::RwLockReadGuard<'a, ()>>,
        site: Site,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        let (parts, state) = (&self.parts, &self.contents.state);
        // SAFETY: a pointer to a field is not null.
        let value = unsafe { NonNull::new_unchecked(self.contents.value.get()) };
        let guard = RwLockReadGuard { value, parts, state, outside, site };
        if parts.poison.is_marked(&state.poisoned, site) { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn write_guard<'a>(
        &'a self,
        outside: Option<std::sync::RwLockWriteGuard<'a, ()>>,
        site: Site,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        let guard = RwLockWriteGuard { lock: self, outside, panicking: panics::panicking(), site };
        let poisoned = self.parts.poison.is_marked(&self.contents.state.poisoned, site);
        if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }
}

impl Parts {
    /// Gives locations back. They were used before, so nothing must be said about contents.
    fn unlock(&self, slots: impl Iterator<Item = usize>, site: Site) {
        for slot in slots {
            ops::on_object(Object::new(&self.slots[slot], KIND), 0, Op::unlock(Addr::NONE, site));
        }
    }

    #[track_caller]
    fn assert_outside(&self) {
        self.slots.iter().for_each(Tag::assert_outside);
    }
}

/// The calling thread, as readers are noted.
fn reader() -> u32 {
    ops::thread().0 + 1
}

/// The location of the calling thread, which reads.
fn own_slot() -> usize {
    let bit = 1 << ops::name_of(ops::thread()).min(u64::BITS - 1);
    facts::learn(Fact::Readers, bit);
    let before = facts::fact(Fact::Readers) & (bit - 1);
    (before.count_ones() as usize).min(SLOTS - 1)
}

/// How many locations a writer takes.
fn slot_count() -> usize {
    (facts::fact(Fact::Readers).count_ones() as usize).clamp(1, SLOTS)
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

/// Shows the value if nobody writes, which is tried as by [`try_read`](RwLock::try_read).
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(poisoned)) => shown.field("data", &&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

/// A lock taken for reading; given back when dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    parts: &'a Parts,
    state: &'a State,
    outside: Option<std::sync::RwLockReadGuard<'a, ()>>,
    /// Where the lock was taken.
    site: Site,
}

// SAFETY: a shared guard gives shared access to the value, and nothing else.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
impl<T: ?Sized> UnwindSafe for RwLockReadGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for RwLockReadGuard<'_, T> {}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody writes for as long as the guard lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        if self.outside.is_some() || !ops::in_check() {
            return;
        }
        let slot = own_slot();
        let hold = &self.state.holds[slot];
        let (holder, count) = hold.get();
        if count > 1 {
            hold.set((holder, count - 1));
        } else {
            hold.set((0, 0));
            self.parts.unlock(slot..=slot, self.site);
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A lock taken for writing; given back when dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    outside: Option<std::sync::RwLockWriteGuard<'a, ()>>,
    panicking: bool,
    /// Where the lock was taken.
    site: Site,
}

// SAFETY: as for `RwLockReadGuard`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Goes on reading instead of writing, and lets nobody write in between.
    ///
    /// ```
    /// use unpick::sync::{RwLock, RwLockWriteGuard};
    ///
    /// unpick::check(|| {
    ///     let lock = RwLock::new(1);
    ///     let mut writes = lock.write().unwrap();
    ///     *writes += 1;
    ///     let reads = RwLockWriteGuard::downgrade(writes);
    ///     assert_eq!((*reads, *lock.read().unwrap()), (2, 2));
    /// });
    /// ```
    #[track_caller]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let mut guard = std::mem::ManuallyDrop::new(s);
        let (lock, site) = (guard.lock, guard.site);
        let outside = guard.outside.take().map(std::sync::RwLockWriteGuard::downgrade);
        if outside.is_none() && ops::in_check() {
            let own = own_slot();
            lock.contents.state.holds[own].set((reader(), 1));
            lock.parts.unlock((0..slot_count()).rev().filter(|&slot| slot != own), site);
        }
        let (parts, state) = (&lock.parts, &lock.contents.state);
        // SAFETY: a pointer to a field is not null.
        let value = unsafe { NonNull::new_unchecked(lock.contents.value.get()) };
        RwLockReadGuard { value, parts, state, outside, site }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held for as long as the guard lives.
        unsafe { &*self.lock.contents.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.lock.contents.value.get() }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let RwLock { parts, contents } = self.lock;
        parts.poison.mark(&contents.state.poisoned, self.panicking, self.site);
        if self.outside.is_none() && ops::in_check() {
            parts.unlock((0..slot_count()).rev(), self.site);
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
