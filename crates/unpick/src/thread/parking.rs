//! Threads that sleep until another thread wakes them: parking, and what conditions and barriers
//! rest on.

use std::time::Duration;

use unpick_core::op::{Addr, Mode, Op, Site};
use unpick_core::timeouts::Timeouts;
use unpick_runtime::ops::{self, Object};

use super::handle::Local;
use crate::here;
use crate::time::{limit, pass, sleep, wait_within};

/// Waits until the thread is given a token by [`unpark`](super::Thread::unpark), and uses it up, as
/// [`std::thread::park`].
///
/// Inside a check it returns without a token only if
/// [`Check::spurious_wakeups`](crate::Check::spurious_wakeups) is set. A thread that waits for ever
/// is a violation.
///
/// ```
/// use unpick::sync::Arc;
/// use unpick::sync::atomic::{AtomicBool, Ordering};
/// use unpick::thread;
///
/// unpick::check(|| {
///     let ready = Arc::new(AtomicBool::new(false));
///     let theirs = Arc::clone(&ready);
///     let sleeper = thread::spawn(move || {
///         while !theirs.load(Ordering::Acquire) {
///             thread::park();
///         }
///     });
///     ready.store(true, Ordering::Release);
///     sleeper.thread().unpark();
///     sleeper.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn park() {
    if !ops::in_check() {
        return std::thread::park();
    }
    let site = here!();
    let local = Local::of(ops::thread());
    if !wakes_spuriously(local, site) {
        ops::on_object(Object::new(&local.token, "token"), 1, Op::wait(Addr::NONE, false, site));
    }
}

/// Waits for a token, but not for ever, as [`std::thread::park_timeout`].
///
/// Inside a check the time may pass at any moment, however long it is: whenever there is no token,
/// the thread goes on without. [`Check::timeouts`](crate::Check::timeouts) changes that.
///
/// ```
/// use std::time::Duration;
/// use unpick::thread;
///
/// unpick::check(|| thread::park_timeout(Duration::from_secs(1)));
/// ```
#[track_caller]
pub fn park_timeout(duration: Duration) {
    if !ops::in_check() {
        return std::thread::park_timeout(duration);
    }
    let local = Local::of(ops::thread());
    let token = Object::new(&local.token, "token");
    let site = here!();
    match limit(duration) {
        Timeouts::Never => {
            ops::on_object(token, 1, Op::wait(Addr::NONE, false, site));
        }
        Timeouts::Last => {
            wait_within(token, Op::wait(Addr::NONE, false, site), duration);
        }
        _ => {
            if ops::on_object(token, 1, Op::try_lock(Addr::NONE, site)) != 0 {
                pass(duration);
            }
        }
    }
}

/// As [`park_timeout`], in milliseconds.
#[deprecated(note = "replaced by `park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

/// As [`sleep`], in milliseconds.
#[deprecated(note = "replaced by `sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}

/// Whether a thread that is about to wait wakes up without a reason: once in an execution, so that
/// loops end.
fn wakes_spuriously(local: &Local, site: Site) -> bool {
    let wakes = ops::wakes_spuriously() && !local.woke.get() && ops::whim(site);
    if wakes {
        local.woke.set(true);
    }
    wakes
}

/// The calling thread as one that others wake.
pub(crate) struct Wakes(&'static Local);

impl Wakes {
    /// The calling thread.
    pub(crate) fn current() -> Wakes {
        Wakes(Local::of(ops::thread()))
    }

    /// What others call it when they wake it.
    pub(crate) fn number(&self) -> u32 {
        ops::name_of(ops::thread())
    }

    /// Waits for [`wake`]; `mode` is `Acquire` or `Relaxed`.
    pub(crate) fn wait(&self, mode: Mode, site: Site) {
        let op = Op { mode, ..Op::wait(Addr::NONE, false, site) };
        ops::on_object(Object::new(&self.0.signal, "signal"), 1, op);
    }

    /// Waits for [`wake`], until nothing else can run and the time is over: whether somebody woke it.
    pub(crate) fn wait_within(&self, mode: Mode, time: Duration, site: Site) -> bool {
        let op = Op { mode, ..Op::wait(Addr::NONE, false, site) };
        wait_within(Object::new(&self.0.signal, "signal"), op, time)
    }

    /// Whether the thread goes on without being woken.
    pub(crate) fn wakes_spuriously(&self, site: Site) -> bool {
        wakes_spuriously(self.0, site)
    }

    /// Notes with which mutex the thread waits.
    pub(crate) fn set_mutex(&self, address: usize) {
        self.0.mutex.set(address);
    }
}

/// The mutex with which a thread waits.
pub(crate) fn mutex_of(number: u32) -> usize {
    Local::of(ops::named(number)).mutex.get()
}

/// Wakes a thread that waits, or is about to; `mode` is `Release` or `Relaxed`.
pub(crate) fn wake(number: u32, mode: Mode, site: Site) {
    let local = Local::of(ops::named(number));
    ops::on_object(
        Object::new(&local.signal, "signal"),
        1,
        Op { mode, failure: mode, ..Op::post(Addr::NONE, site) },
    );
}
