//! `Condvar`, as in [`std::sync`].
//!
//! A location holds the set of threads that wait. Who notifies takes threads out of it, and sends each
//! a signal; if there is nobody, it has only read. A wait that ends by itself takes its own thread
//! out, unless somebody else has: then the signal is on its way.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use unpick_core::op::{Addr, Mode, Op, Rmw, Site, Value};
use unpick_core::timeouts::Timeouts;
use unpick_runtime::Tag;
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};

use super::mutex::MutexGuard;
use crate::here;
use crate::thread::{self, Wakes};
use crate::time::{limit, pass};

/// A condition that threads wait for, as [`std::sync::Condvar`].
///
/// Inside a check:
///
/// - Any thread that waits may be the one that [`notify_one`](Condvar::notify_one) wakes. A call
///   synchronises with nothing by itself, as in `std`: what the threads share goes through the mutex.
/// - A wait ends without a reason only if
///   [`Check::spurious_wakeups`](crate::Check::spurious_wakeups) is set; then once for each thread.
/// - The time of a wait may be over at any moment before the thread is woken, unless
///   [`Check::timeouts`](crate::Check::timeouts) says otherwise. A loop around a wait
///   with a time limit that does nothing else is recognised as one that waits.
/// - Threads whose number is above 63 cannot wait.
///
/// ```
/// use unpick::sync::{Arc, Condvar, Mutex};
/// use unpick::thread;
///
/// unpick::check(|| {
///     let pair = Arc::new((Mutex::new(false), Condvar::new()));
///     let theirs = Arc::clone(&pair);
///     let thread = thread::spawn(move || {
///         *theirs.0.lock().unwrap() = true;
///         theirs.1.notify_one();
///     });
///     let (ready, condition) = &*pair;
///     let guard = condition.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*guard);
///     drop(guard);
///     thread.join().unwrap();
/// });
/// ```
pub struct Condvar {
    tag: Tag,
    outside: std::sync::Condvar,
}

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

/// How a wait may end by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Never,
    After(Duration),
}

impl Condvar {
    /// A condition that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar { tag: Tag::new(), outside: std::sync::Condvar::new() }
    }

    /// Gives the lock back, waits to be notified, and takes the lock again.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    ///
    /// # Panics
    ///
    /// Inside a check, when another thread waits with another mutex.
    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        if ops::in_check() {
            self.sleep(&guard, End::Never, here!());
        } else {
            self.tag.assert_outside();
            guard.with_outside(|outside| {
                (self.outside.wait(outside).unwrap_or_else(PoisonError::into_inner), ())
            });
        }
        guard.checked()
    }

    /// Waits until the condition is false.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    ///
    /// # Panics
    ///
    /// As [`wait`](Condvar::wait).
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits to be notified, but not for ever.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    ///
    /// # Panics
    ///
    /// As [`wait`](Condvar::wait).
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let over = if ops::in_check() {
            !self.sleep(&guard, End::After(dur), here!())
        } else {
            self.tag.assert_outside();
            guard.with_outside(|outside| {
                let result = self.outside.wait_timeout(outside, dur);
                let (outside, result) = result.unwrap_or_else(PoisonError::into_inner);
                (outside, result.timed_out())
            })
        };
        let result = WaitTimeoutResult(over);
        match guard.checked() {
            Ok(guard) => Ok((guard, result)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
        }
    }

    /// As [`wait_timeout`](Condvar::wait_timeout), in milliseconds; says whether it was notified.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    ///
    /// # Panics
    ///
    /// As [`wait`](Condvar::wait).
    #[deprecated(note = "replaced by `wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// Waits until the condition is false, but not for ever.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    ///
    /// # Panics
    ///
    /// As [`wait`](Condvar::wait).
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = (!ops::in_check()).then(std::time::Instant::now);
        let mut over = false;
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let elapsed = start.map_or(Duration::ZERO, |start| start.elapsed());
            let Some(left) = dur.checked_sub(elapsed).filter(|_| start.is_some() || !over) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            over = result.timed_out();
        }
    }

    /// Wakes one thread that waits, if there is one.
    #[track_caller]
    pub fn notify_one(&self) {
        if !ops::in_check() {
            self.tag.assert_outside();
            return self.outside.notify_one();
        }
        let site = here!();
        let most = facts::fact(Fact::Waiters).count_ones();
        let nth = if most > 1 { ops::choose(most.into(), site) } else { 0 };
        let old = self.op(Op::rmw(Addr::NONE, Rmw::TakeBit, Mode::Relaxed, nth, site));
        match (0..u64::BITS).filter(|bit| old >> bit & 1 != 0).nth(nth as usize) {
            Some(thread) => thread::wake(thread, Mode::Relaxed, site),
            // The other choices cover all threads that there are.
            None if nth > 0 => ops::give_up(site),
            None => {}
        }
    }

    /// Wakes all threads that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        if !ops::in_check() {
            self.tag.assert_outside();
            return self.outside.notify_all();
        }
        let site = here!();
        let old = self.op(Op::rmw(Addr::NONE, Rmw::TakeAll, Mode::Relaxed, 0, site));
        (0..u64::BITS)
            .filter(|bit| old >> bit & 1 != 0)
            .for_each(|thread| thread::wake(thread, Mode::Relaxed, site));
    }

    /// Waits without the lock. Says whether the thread was woken by another.
    fn sleep<T>(&self, guard: &MutexGuard<'_, T>, end: End, site: Site) -> bool {
        let this = Wakes::current();
        let number = this.number();
        if number >= u64::BITS {
            ops::refuse("more than 64 threads, of which a late one waits for a `Condvar`; use fewer threads");
        }
        this.set_mutex(guard.address());
        let bit = 1 << number;
        let others = self.op(Op::rmw(Addr::NONE, Rmw::Or, Mode::Relaxed, bit, site)) & !bit;
        let count = others.count_ones() + 1;
        if count > 1 {
            facts::learn(Fact::Waiters, (1 << count) - 1);
            let with_another =
                |&thread: &u32| others >> thread & 1 != 0 && thread::mutex_of(thread) != guard.address();
            if (0..u64::BITS).any(|thread| with_another(&thread)) {
                self.take_out(bit, site);
                panic!("attempted to use a condition variable with two mutexes");
            }
        }
        guard.unlock_to_wait();
        let woken = if let End::After(time) = end {
            self.wait_within(&this, time, site)
        } else if this.wakes_spuriously(site) {
            if !self.take_out(bit, site) {
                // It was woken, which is the other choice.
                ops::give_up(site);
            }
            false
        } else {
            this.wait(Mode::Relaxed, site);
            true
        };
        guard.lock_again(site);
        woken
    }

    /// Waits for a time at most. Says whether the thread was woken by another.
    fn wait_within(&self, this: &Wakes, time: Duration, site: Site) -> bool {
        let bit = 1 << this.number();
        let woken = match limit(time) {
            Timeouts::Never => {
                this.wait(Mode::Relaxed, site);
                return true;
            }
            Timeouts::Last => {
                let woken = this.wait_within(Mode::Relaxed, time, site);
                return woken || !self.take_out(bit, site);
            }
            _ => !self.take_out(bit, site),
        };
        if woken {
            this.wait(Mode::Relaxed, site);
        } else {
            pass(time);
        }
        woken
    }

    /// Takes the calling thread out of the set, unless it was taken out already.
    fn take_out(&self, bit: Value, site: Site) -> bool {
        self.op(Op::rmw(Addr::NONE, Rmw::GiveUp, Mode::Relaxed, !bit, site)) & bit != 0
    }

    fn op(&self, op: Op) -> Value {
        ops::on_object(Object::new(&self.tag, "Condvar"), 0, op)
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

/// Whether a wait ended because its time was over, as [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was over.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}
