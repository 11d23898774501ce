//! Time: each thread has a clock of its own, which depends on nothing but what the thread does.
//!
//! It goes on by a little with each look at it, or, on request, by a little or a lot; and by the whole time with each sleep. In
//! loops that wait it stands still, or [passes](unpick_driver::passing). Nobody sleeps.

use unpick_core::event::Event;
use unpick_core::op::{self as core, Addr, Op, Rmw, Value};
use unpick_driver::passing::{self, Look};

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops::{self, Caller};
use crate::places::{Key, MadeUp};
use crate::real::pass;
use crate::session::depart_for_good;
use crate::trial::{self, Trying};

entries! {
    clock_gettime => get;
    time => seconds;
    gettimeofday => time_of_day;
    nanosleep => sleep_for;
    clock_nanosleep => sleep_by_clock;
    usleep => sleep_microseconds;
    sleep => sleep_seconds;
    sched_yield => give_way;
    pthread_yield => give_way;
    thrd_yield => give_way;
}

type Time = libc::timespec;

/// When programs begin: some day in 2020, in nanoseconds.
const BEGIN: u64 = 1_600_000_000_000_000_000;

/// How much later it is at each look.
const LOOK: u64 = 1_000_000;

const SECOND: u64 = 1_000_000_000;

/// The operand of the event for a sleep; a wait that gives up has another.
const SLEEP: Value = 0;

/// In how many ways time may have passed in a loop that did not ask.
const ANY: Value = passing::STEPS.len() as Value + 1;

/// How much later it may be at a look, if that is to be explored.
const JUMP: u64 = 3600 * SECOND;

/// Where the clock of a thread stands, in nanoseconds since the program began.
fn clock(caller: &Caller) -> &mut u64 {
    &mut caller.session().threads[caller.thread.index()].clock
}

/// The time of the calling thread. Where it goes round in a loop, [time may pass](unpick_driver::passing).
fn look(caller: &Caller) -> u64 {
    let s = caller.session();
    if let Some(trying) = &mut s.trying {
        trying.trial.look(&s.search.execution, caller.site);
        trial::answered(trying, 0);
        return BEGIN + *clock(caller);
    }
    let passes = if s.limits.clock_jumps { LOOK + (JUMP - LOOK) * caller.choose(2) } else { passes(caller) };
    let clock = clock(caller);
    *clock = clock.saturating_add(passes);
    let now = *clock;
    caller.session().search.looked(caller.thread, now);
    BEGIN + now
}

/// How much time passes when the calling thread looks at its clock.
fn passes(caller: &Caller) -> u64 {
    let now = *clock(caller);
    let s = caller.session();
    let passes = match s.search.look(caller.thread, caller.site, now) {
        Look::Plain => return LOOK,
        Look::Still => 0,
        Look::Ask(_) | Look::AskAny if s.limits.patient => 0,
        Look::AskAny => return LOOK + passing::sum(caller.choose(ANY)),
        Look::Ask(step) => step * caller.choose(2),
        Look::Pass(step) => step,
        Look::Leave => depart_for_good(caller.session),
    };
    if passes > 0 {
        caller.session().search.passing.has_passed(caller.thread, passes);
    }
    passes
}

pub(crate) fn nanoseconds(time: &Time) -> u64 {
    (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec.max(0) as u64)
}

/// Lets the clock of the calling thread reach a time.
///
/// # Safety
///
/// The pointer is null, or to a time.
pub(crate) unsafe fn reach(caller: &Caller, time: *const Time) {
    if let Some(trying) = &mut caller.session().trying {
        trying.trial.spend_time();
    } else if !time.is_null() {
        // SAFETY: the caller's promise.
        let time = nanoseconds(unsafe { &*time });
        let clock = clock(caller);
        *clock = (*clock).max(time.saturating_sub(BEGIN));
    }
}

/// The code of a wait with a limit on time that has not got what it waits for: its time is over, and it is as late as that;
/// or there is no such time.
///
/// # Safety
///
/// The pointer is null, or to a time.
pub(crate) unsafe fn give_up(caller: &Caller, time: *const Time) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_valid(time) {
            return libc::EINVAL;
        }
        reach(caller, time);
    }
    libc::ETIMEDOUT
}

/// Whether there is such a time.
///
/// # Safety
///
/// The pointer is null, or to a time.
pub(crate) unsafe fn is_valid(time: *const Time) -> bool {
    // SAFETY: the caller's promise.
    time.is_null() || (0..SECOND as i64).contains(&unsafe { (*time).tv_nsec })
}

/// Lets some time pass for the calling thread.
pub(crate) fn pass_time(caller: &Caller, nanoseconds: u64) {
    if let Some(trying) = &mut caller.session().trying {
        trying.trial.spend_time();
        return;
    }
    let clock = clock(caller);
    *clock = clock.saturating_add(nanoseconds);
}

/// The calling thread sleeps, or lets others go first: it may be waiting for them. If it has written anything since it last
/// did so, there is an event for it, as when a wait gives up: a round from one such event to the next that leaves everything
/// as it was is recognised as one that waits. Where it only reads, its reads are enough.
fn pause(caller: &Caller) {
    if is_event(caller) {
        let key = Key::made_up(MadeUp::Sleep(caller.thread.index()));
        caller.take(key, Op::rmw(Addr::NONE, Rmw::GiveUp, core::Mode::Relaxed, SLEEP, caller.site));
        let s = caller.session();
        if s.trying.is_none() {
            s.threads[caller.thread.index()].slept = caller.position();
        }
    }
}

/// Whether there is an event for a sleep of the calling thread.
fn is_event(caller: &Caller) -> bool {
    let s = caller.session();
    let graph = s.search.execution.graph();
    if let Some(Trying { trial, .. }) = &s.trying {
        // As in the round that is being tried.
        return match trial.next_event() {
            Some(id) => is_sleep(graph.event(id)),
            None => trial.site == caller.site,
        };
    }
    let position = caller.position();
    let since = std::mem::replace(&mut s.threads[caller.thread.index()].slept, position);
    let since = since.max(graph.base(caller.thread) as u32);
    let past = graph.since(caller.thread, since).iter().take(position.saturating_sub(since) as usize);
    past.into_iter().any(Event::is_write)
}

/// Whether an event is a sleep, and no wait that gives up.
pub(crate) fn is_sleep(event: &Event) -> bool {
    event.rmw == Rmw::GiveUp && event.kind == core::Kind::Read && event.operand == SLEEP
}

/// The time of the calling thread, as programs write it.
pub(crate) fn now(caller: &Caller) -> Time {
    let now = look(caller);
    Time { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 }
}

unsafe extern "C" fn get(number: i32, place: *mut Time) -> i32 {
    let now = match ops::enter() {
        Some(caller) => {
            let now = look(&caller);
            caller.leave();
            now
        }
        None if mode::mode() == Mode::Before => BEGIN,
        None => return pass!(c"clock_gettime", fn(i32, *mut Time) -> i32, number, place),
    };
    // SAFETY: the caller's pointer.
    unsafe { *place = Time { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 } };
    0
}

unsafe extern "C" fn seconds(place: *mut i64) -> i64 {
    let now = match ops::enter() {
        Some(caller) => {
            let now = look(&caller);
            caller.leave();
            now
        }
        None if mode::mode() == Mode::Before => BEGIN,
        None => return pass!(c"time", fn(*mut i64) -> i64, place),
    };
    let now = (now / SECOND) as i64;
    if !place.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *place = now };
    }
    now
}

unsafe extern "C" fn time_of_day(place: *mut libc::timeval, zone: usize) -> i32 {
    let now = match ops::enter() {
        Some(caller) => {
            let now = look(&caller);
            caller.leave();
            now
        }
        None if mode::mode() == Mode::Before => BEGIN,
        None => return pass!(c"gettimeofday", fn(*mut libc::timeval, usize) -> i32, place, zone),
    };
    let (tv_sec, tv_usec) = ((now / SECOND) as i64, (now % SECOND / 1000) as i64);
    // SAFETY: the caller's pointer.
    unsafe { *place = libc::timeval { tv_sec, tv_usec } };
    0
}

pub(crate) unsafe extern "C" fn sleep_for(time: *const Time, left: *mut Time) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"nanosleep", fn(*const Time, *mut Time) -> i32, time, left);
    };
    // SAFETY: the caller's pointer.
    pass_time(&caller, nanoseconds(unsafe { &*time }));
    pause(&caller);
    caller.leave();
    0
}

unsafe extern "C" fn sleep_by_clock(number: i32, flags: i32, time: *const Time, left: *mut Time) -> i32 {
    let Some(caller) = ops::enter() else {
        type Place = *mut Time;
        return pass!(c"clock_nanosleep", fn(i32, i32, *const Time, Place) -> i32, number, flags, time, left);
    };
    // SAFETY: the caller's pointer.
    unsafe {
        match flags & libc::TIMER_ABSTIME {
            0 => pass_time(&caller, nanoseconds(&*time)),
            _ => reach(&caller, time),
        }
    }
    pause(&caller);
    caller.leave();
    0
}

extern "C" fn sleep_microseconds(time: u32) -> i32 {
    let Some(caller) = ops::enter() else { return pass!(c"usleep", fn(u32) -> i32, time) };
    pass_time(&caller, u64::from(time) * 1000);
    pause(&caller);
    caller.leave();
    0
}

extern "C" fn sleep_seconds(time: u32) -> u32 {
    let Some(caller) = ops::enter() else { return pass!(c"sleep", fn(u32) -> u32, time) };
    pass_time(&caller, u64::from(time) * SECOND);
    pause(&caller);
    caller.leave();
    0
}

extern "C" fn give_way() -> i32 {
    match ops::enter() {
        Some(caller) => {
            pause(&caller);
            caller.leave();
        }
        None if mode::mode() == Mode::Off => return pass!(c"sched_yield", fn() -> i32),
        None => {}
    }
    0
}
