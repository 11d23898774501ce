//! Time, as in [`std::time`].
//!
//! Inside a check each thread of the program has a clock of its own, which has nothing to do with
//! that of the machine. It stands still while the thread computes. It advances when the thread
//! [sleeps](crate::thread::sleep), or waits until a time is up, by that time. It is never behind what
//! another thread's clock showed at a point that happens before: a thread starts at the time of the one
//! that spawned it, a `join` takes the caller to the time at which the thread ended, and so does taking a
//! lock, receiving a message, or an acquiring load. An [`Instant`] that another thread has taken, and that
//! came here without synchronisation, may be later than now.
//!
//! When a wait with a limit on time gives up is a setting, [`Check::timeouts`](crate::Check::timeouts): at
//! any moment, never, or only when nothing else can run, the earliest first.
//!
//! A thread that only computes sees no time go by. A program that behaves differently when something takes long must
//! bring that about with `sleep`, with a wait that has a time-out, or with [`choose`](crate::choose).
//!
//! In loops that wait time does pass. Where a thread goes round and looks at its clock again, and has changed nothing meanwhile,
//! both are explored: that no time has passed, and that some has, which grows from one round to the next, up to 23 days. So a loop
//! with a deadline goes on, and it gives up:
//!
//! ```
//! use std::time::Duration;
//! use unpick::sync::Arc;
//! use unpick::sync::atomic::{AtomicBool, Ordering::*};
//! use unpick::{thread, time::Instant};
//!
//! let verdict = unpick::Check::new().run(|| {
//!     let flag = Arc::new(AtomicBool::new(false));
//!     let theirs = flag.clone();
//!     thread::spawn(move || theirs.store(true, Release));
//!     let start = Instant::now();
//!     while !flag.load(Acquire) {
//!         assert!(start.elapsed() < Duration::from_secs(1), "too late");
//!     }
//! });
//! assert!(verdict.unwrap().violation().is_some());
//! ```
//!
//! A loop that sleeps is not followed for as long as it may take. How long it took is a choice where the clock is looked at
//! afterwards.
//!
//! Outside a check, time is that of the machine.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;

use unpick_core::op::{Addr, Op, Site};
use unpick_core::timeouts::Timeouts;
use unpick_runtime::Tag;
use unpick_runtime::clocks::{self, Waited};
use unpick_runtime::ops::{self, Object};

use crate::here;

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

/// When the wall clock of every execution starts: 2026-01-01 00:00:00 UTC, in seconds.
const WALL_CLOCK: u64 = 1_767_225_600;

/// Lets time pass for the calling thread; nothing outside a check.
pub(crate) fn pass(time: Duration) {
    if ops::in_check() {
        clocks::pass(time);
    }
}

/// What the clock of the calling thread shows.
fn look(site: Site) -> Duration {
    Duration::from_nanos(clocks::look(site.0))
}

/// How a wait for a time at most is to be done inside a check. One for no time at all is a look.
pub(crate) fn limit(time: Duration) -> Timeouts {
    if time.is_zero() { Timeouts::Any } else { clocks::timeouts() }
}

/// Waits for a signal, until nothing else can run and the time is over: whether the signal came.
pub(crate) fn wait_within(object: Object<'_>, op: Op, time: Duration) -> bool {
    clocks::wait(object, 1, op, time, &|| false) != Waited::TimeIsOver
}

fn sleep_until_nothing_else_runs(time: Duration, site: Site) {
    let tag = Tag::new();
    wait_within(Object::new(&tag, "sleep"), Op::wait(Addr::NONE, false, site), time);
}

/// Waits for a time, as [`std::thread::sleep`].
///
/// Inside a check the clock of the calling thread advances by the time, and nothing else happens:
/// other threads may do anything meanwhile, as they may at any point, and sleeping orders nothing. With
/// [`Timeouts::Last`] the thread goes on only when nothing else can run.
///
/// ```
/// use std::time::Duration;
/// use unpick::{thread, time::Instant};
///
/// unpick::check(|| {
///     let start = Instant::now();
///     thread::sleep(Duration::from_secs(3600));
///     assert_eq!(start.elapsed(), Duration::from_secs(3600));
/// });
/// ```
#[track_caller]
pub fn sleep(time: Duration) {
    if ops::in_check() {
        match limit(time) {
            Timeouts::Last => sleep_until_nothing_else_runs(time, here!()),
            _ => pass(time),
        }
    } else {
        std::thread::sleep(time);
    }
}

/// A point in time, as [`std::time::Instant`]: [the module](self) says how time passes inside a check.
///
/// Within a thread it never goes back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

impl Instant {
    /// The time now.
    #[track_caller]
    pub fn now() -> Instant {
        static START: OnceLock<std::time::Instant> = OnceLock::new();
        if ops::in_check() {
            return Instant(*START.get_or_init(std::time::Instant::now) + look(here!()));
        }
        Instant(std::time::Instant::now())
    }

    /// How long after `earlier` this is; zero if it is not.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// How long after `earlier` this is; `None` if it is not.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// How long after `earlier` this is; zero if it is not.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// How long ago this is.
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// The time after a while, if there is such a time.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// The time a while before, if there is such a time.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// The time of a clock on the wall, as [`std::time::SystemTime`]: [the module](self) says how time
/// passes inside a check, where each execution begins with the year 2026.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

/// The start of 1970, as [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

impl SystemTime {
    /// The start of 1970.
    pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::SystemTime::UNIX_EPOCH);

    /// The time now.
    #[track_caller]
    pub fn now() -> SystemTime {
        if ops::in_check() {
            return SystemTime::UNIX_EPOCH + (Duration::from_secs(WALL_CLOCK) + look(here!()));
        }
        SystemTime(std::time::SystemTime::now())
    }

    /// How long after `earlier` this is.
    ///
    /// # Errors
    ///
    /// When it is before; the error says how long.
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// How long ago this is.
    ///
    /// # Errors
    ///
    /// When it is still to come; the error says when.
    #[track_caller]
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }

    /// The time after a while, if there is such a time.
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_add(duration).map(SystemTime)
    }

    /// The time a while before, if there is such a time.
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

/// What both kinds of time share.
macro_rules! arithmetic {
    ($time:ident, $std:ty) => {
        impl Add<Duration> for $time {
            type Output = $time;

            /// # Panics
            ///
            /// When there is no such time.
            fn add(self, duration: Duration) -> $time {
                $time(self.0 + duration)
            }
        }

        impl AddAssign<Duration> for $time {
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }

        impl Sub<Duration> for $time {
            type Output = $time;

            /// # Panics
            ///
            /// When there is no such time.
            fn sub(self, duration: Duration) -> $time {
                $time(self.0 - duration)
            }
        }

        impl SubAssign<Duration> for $time {
            fn sub_assign(&mut self, duration: Duration) {
                *self = *self - duration;
            }
        }

        impl From<$std> for $time {
            fn from(time: $std) -> $time {
                $time(time)
            }
        }

        impl From<$time> for $std {
            fn from(time: $time) -> $std {
                time.0
            }
        }

        impl fmt::Debug for $time {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

arithmetic!(Instant, std::time::Instant);
arithmetic!(SystemTime, std::time::SystemTime);
