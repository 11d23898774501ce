//! Time: what the clock of each thread shows, and who waits until when.
//!
//! The clock of a thread stands still until time passes for that thread. It is never behind that of
//! another thread at a point that happens before: when a thread looks, it takes over what the clocks
//! showed at all events that it knows of.

use std::time::Duration;

use unpick_checkers::stuck;
use unpick_core::op::{Op, Site, ThreadId, Value};
use unpick_core::timeouts::Timeouts;
use unpick_driver::passing::{self, Look};

use crate::arena;
use crate::current::context;
use crate::ops::{self, Object};
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::shared;

/// The clocks of all threads in the current run.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// For each thread, how many events it had when its clock was set, and to what.
    threads: Vec<Vec<(u32, Duration)>>,
    /// Until when threads wait, if nothing else lets them go on.
    timers: Vec<Option<Duration>>,
    /// The thread whose time is over.
    fired: Option<ThreadId>,
    used: bool,
    /// Whether the program has ever looked at a clock.
    is_read: bool,
}

impl Clocks {
    /// Forgets everything: a run begins.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        if self.used {
            self.threads.iter_mut().for_each(Vec::clear);
            self.timers.clear();
            self.fired = None;
            self.used = false;
        }
    }

    /// A number that changes when time passes for a thread, if anybody ever looks at a clock. It is part of the state where the order of
    /// time-outs depends on it.
    pub(crate) fn fingerprint(&self, thread: ThreadId) -> u64 {
        if self.is_read { self.of(thread).as_nanos() as u64 } else { 0 }
    }

    pub(crate) fn of(&self, thread: ThreadId) -> Duration {
        self.threads
            .get(thread.index())
            .and_then(|clock| clock.last())
            .map_or(Duration::ZERO, |&(_, time)| time)
    }

    /// What the clocks showed at the events that a thread knows of, as far as they were ever set.
    fn known(&self, view: &[u32]) -> Duration {
        let shown = |(clock, &known): (&Vec<(u32, Duration)>, &u32)| {
            let count = clock.partition_point(|&(position, _)| position < known);
            count.checked_sub(1).map(|last| clock[last].1)
        };
        self.threads.iter().zip(view).filter_map(shown).max().unwrap_or(Duration::ZERO)
    }

    /// Lets the clock of a thread, which has had so many events, be at least at `time`.
    fn advance(&mut self, thread: ThreadId, position: u32, time: Duration) {
        if self.of(thread) >= time {
            return;
        }
        self.used = true;
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, Vec::new);
        }
        let clock = &mut self.threads[thread.index()];
        match clock.last_mut() {
            Some(last) if last.0 == position => last.1 = time,
            _ => clock.push((position, time)),
        }
    }

    /// Lets the clock of a thread be at least where another's is: it was spawned by the other, or has
    /// waited for its end.
    #[inline(always)]
    pub(crate) fn follow(&mut self, thread: ThreadId, position: u32, other: ThreadId) {
        if self.used {
            let arena = arena::enter(std::ptr::null_mut());
            self.advance(thread, position, self.of(other));
            arena::enter(arena);
        }
    }

    fn set_timer(&mut self, thread: ThreadId, until: Option<Duration>) {
        self.used = true;
        if thread.index() >= self.timers.len() {
            self.timers.resize(thread.index() + 1, None);
        }
        self.timers[thread.index()] = until;
    }
}

/// Brings the clock of the calling thread up to date, and lets time pass for it.
fn update(time: Duration, looks: bool) -> Duration {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers, and no other reference to it is in use while one runs;
    // this one ends here.
    let s = unsafe { &mut *session };
    s.clocks.is_read |= looks;
    if s.clocks.used || !time.is_zero() {
        let position = s.search.execution.position(thread);
        let known = s.clocks.known(s.search.execution.view(thread));
        let now = s.clocks.of(thread).max(known).saturating_add(time);
        s.clocks.advance(thread, position, now);
    }
    let now = s.clocks.of(thread);
    arena::enter(arena);
    now
}

/// Lets time pass for the calling thread.
///
/// # Panics
///
/// Outside a check.
#[inline(never)]
pub fn pass(time: Duration) {
    update(time, false);
    forget_scratch();
}

/// How much time has passed for the calling thread, in nanoseconds, which asks for it at this [place](Site). Where it goes round in a
/// loop, [time may pass](unpick_driver::passing).
///
/// # Panics
///
/// Outside a check.
#[inline(never)]
pub extern "C-unwind" fn look(site: u64) -> u64 {
    let now = update(Duration::ZERO, true);
    let (session, thread) = context();
    let look = with(|s| s.search.look(thread, Site(site), now.as_nanos() as u64));
    let passes = match look {
        Look::Plain | Look::Still => 0,
        Look::Ask(_) | Look::AskAny if timeouts() == Timeouts::Never => 0,
        Look::AskAny => passing::sum(ops::choose(ANY, Site(site))),
        Look::Ask(step) => step * ops::choose(2, Site(site)),
        Look::Pass(step) => step,
        Look::Leave => {
            arena::enter(std::ptr::null_mut());
            ops::leave_for_good(session, thread)
        }
    };
    let now = if passes > 0 { update(Duration::from_nanos(passes), true) } else { now };
    let now = now.as_nanos() as u64;
    with(|s| {
        if passes > 0 && look != Look::AskAny {
            s.search.passing.has_passed(thread, passes);
        }
        s.search.looked(thread, now);
    });
    forget_scratch();
    now
}

/// In how many ways time may have passed in a loop that did not ask.
const ANY: Value = passing::STEPS.len() as Value + 1;

/// Does something with the session, on the memory of the checker.
fn with<R>(f: impl FnOnce(&mut Session) -> R) -> R {
    let (session, _) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `update`.
    let result = f(unsafe { &mut *session });
    arena::enter(arena);
    result
}

/// When waits with a limit on time give up.
///
/// # Panics
///
/// Outside a check.
pub fn timeouts() -> Timeouts {
    let (session, _) = context();
    // SAFETY: as in `update`.
    unsafe { (*session).limits.timeouts }
}

/// How a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The value came.
    Value(Value),
    /// It turned out that there will be none.
    Over,
    /// Nothing else could run, and the time of this wait was the first to be over.
    TimeIsOver,
}

/// Waits for a value, as [`shared::wait_unless`] does, and for so long at most: the time is over when
/// nothing else can run.
///
/// # Panics
///
/// Outside a check.
pub fn wait(object: Object<'_>, init: Value, op: Op, time: Duration, over: &dyn Fn() -> bool) -> Waited {
    let (session, thread) = context();
    let until = update(Duration::ZERO, false).saturating_add(time);
    let set_timer = |until| {
        let arena = arena::enter(std::ptr::null_mut());
        // SAFETY: as in `update`.
        unsafe { (*session).clocks.set_timer(thread, until) };
        arena::enter(arena);
    };
    set_timer(Some(until));
    // SAFETY: as in `update`.
    let has_fired = || unsafe { (*session).clocks.fired == Some(thread) };
    let value = shared::wait_unless(object, init, op, &|| over() || has_fired());
    set_timer(None);
    if let Some(value) = value {
        return Waited::Value(value);
    }
    // SAFETY: as in `update`.
    let repeats = unsafe { (*session).search.execution.recorded(thread).map(|event| event.is_timeout()) };
    if !repeats.unwrap_or_else(has_fired) {
        return Waited::Over;
    }
    // SAFETY: as in `update`.
    unsafe { (*session).clocks.fired = None };
    ops::time_is_over(op.site);
    let left = until.saturating_sub(update(Duration::ZERO, false));
    update(left, false);
    Waited::TimeIsOver
}

/// Sleeps until nothing else can run, and no other thread is to wake up first. Nobody wakes `object`.
///
/// # Panics
///
/// Outside a check.
pub fn sleep(object: Object<'_>, time: Duration, site: Site) {
    wait(object, 1, Op::wait(unpick_core::op::Addr::NONE, false, site), time, &|| false);
}

impl Session {
    /// When no thread can run, and one would go on after a while: the first of them.
    pub(crate) fn fire(&mut self) -> Option<ThreadId> {
        if self.limits.timeouts != Timeouts::Last || self.clocks.timers.iter().all(Option::is_none) {
            return None;
        }
        let waiters = self.search.execution.waiters()?;
        let main_ended = self.search.execution.graph().is_finished(ThreadId::MAIN);
        // A thread that would go on in another execution is not stuck, and this one is not to be followed.
        if (self.limits.abandons && main_ended)
            || stuck::judge(self.search.execution.graph(), &waiters, false, &[]).is_none()
        {
            return None;
        }
        let until = |thread: ThreadId| self.clocks.timers.get(thread.index()).copied().flatten();
        let waiting = waiters.iter().map(|waiter| waiter.point.thread);
        let first = waiting.filter_map(|thread| until(thread).map(|until| (until, thread))).min();
        let (_, thread) = first?;
        self.clocks.fired = Some(thread);
        self.search.execution.let_go(thread);
        self.search.execution.next_thread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_thread_knows_the_clocks_of_the_events_that_it_knows() {
        let (main, other) = (ThreadId(0), ThreadId(1));
        let mut clocks = Clocks::default();
        clocks.advance(other, 2, SECOND);
        clocks.advance(other, 5, 3 * SECOND);
        for (known, expected) in [(0, 0), (2, 0), (3, 1), (5, 1), (6, 3), (9, 3)] {
            assert_eq!(clocks.known(&[4, known]), expected * SECOND, "{known}");
        }
        clocks.advance(other, 7, 2 * SECOND);
        assert_eq!(clocks.of(other), 3 * SECOND, "clocks do not go back");
        clocks.follow(main, 1, other);
        assert_eq!(clocks.of(main), 3 * SECOND);
        clocks.clear();
        assert_eq!(clocks.of(main), Duration::ZERO);
    }

    #[test]
    fn a_clock_nobody_looks_at_makes_no_difference() {
        let thread = ThreadId(1);
        let mut clocks = Clocks::default();
        clocks.advance(thread, 2, SECOND);
        assert_eq!(clocks.fingerprint(thread), 0);
        clocks.is_read = true;
        let before = clocks.fingerprint(thread);
        clocks.advance(thread, 3, 2 * SECOND);
        assert_ne!(clocks.fingerprint(thread), before);
        assert_eq!(clocks.fingerprint(ThreadId(2)), 0, "no time has passed for it");
    }

    #[test]
    fn timers_are_of_one_run() {
        let mut clocks = Clocks::default();
        clocks.set_timer(ThreadId(2), Some(SECOND));
        assert_eq!(clocks.timers, [None, None, Some(SECOND)]);
        clocks.set_timer(ThreadId(2), None);
        assert!(clocks.timers.iter().all(Option::is_none));
        clocks.fired = Some(ThreadId(2));
        clocks.clear();
        assert!(clocks.timers.is_empty() && clocks.fired.is_none());
    }
}
