//! Checks on the thread that asks for them, for as long as they are short.
//!
//! An OS thread of its own costs a short check more than all the rest. So a check begins on the thread that asks for
//! it, as it is with loom and Shuttle. It moves to one of its own, and is watched over from then on, when it
//! turns out to be longer, when a thread under test panics, or when a single execution takes too long: an alarm makes
//! the thread under test leave at its next operation, and if there is none, wherever it is. What it has done in this
//! execution is then done once more.

mod ambient;

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::ops::leave_for_good;
use crate::session::Session;
use crate::signals::{self, landing, redirect};
use crate::worker::thread_cpu;
use crate::{arena, current};

pub(crate) use ambient::Ambient;

/// How long a check may stay.
pub(crate) const LONGEST: Duration = Duration::from_millis(20);
/// After how long the alarm goes off, and how often from then on.
const FIRST_TICK: Duration = Duration::from_millis(100);
const TICK: Duration = Duration::from_millis(20);
/// After how much CPU time without an operation a thread is not waited for any longer.
const PATIENCE: Duration = Duration::from_millis(150);
/// For how many ticks a thread must have stood at one instruction of a library to be taken for blocked.
const BLOCKED: u32 = 40;

thread_local! {
    static WATCHED: Cell<Watched> = const { Cell::new(Watched::NOTHING) };
}

/// What the alarm of an OS thread looks after.
#[derive(Clone, Copy)]
struct Watched {
    session: *mut Session,
    /// Whether the alarm has gone off.
    late: bool,
    /// Signs of life at the last tick, and the CPU time of the OS thread when they had changed.
    beats: u64,
    since: Duration,
    /// The instruction at the last tick, and for how many ticks it was that.
    instruction: usize,
    same: u32,
}

impl Watched {
    const NOTHING: Watched = Watched {
        session: std::ptr::null_mut(),
        late: false,
        beats: 0,
        since: Duration::ZERO,
        instruction: 0,
        same: 0,
    };
}

/// An alarm for the thread that has set it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: libc::timer_t,
}

impl Alarm {
    /// Sets the alarm. `None`: a check cannot be carried out on this thread.
    pub(crate) fn set(session: *mut Session) -> Option<Alarm> {
        if std::thread::panicking() || current::get().is_some() || !listens() {
            return None;
        }
        let timer = start()?;
        WATCHED.set(Watched { session, since: thread_cpu(), ..Watched::NOTHING });
        Some(Alarm { timer })
    }

    /// Whether it has gone off.
    pub(crate) fn has_gone_off(&self) -> bool {
        WATCHED.get().late
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // A signal that is on its way finds nothing to look after.
        WATCHED.set(Watched::NOTHING);
        // SAFETY: the timer is ours, and is deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}

/// What this OS thread has in thread-locals that are not unpick's own.
pub(crate) fn ambient() -> Option<Ambient> {
    Ambient::find([arena::place(), current::place(), signals::place(), WATCHED.with(current::place_of)])
}

/// The signal of the alarm: one that programs have no use for.
fn signal() -> libc::c_int {
    libc::SIGRTMAX() - 3
}

/// Where the code of the program lies, which is also ours; nothing if no alarm can be set.
static CODE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Puts the handler in place, once, unless the program has one of its own for the signal.
fn listens() -> bool {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(code) = signals::code_around(handler as *const () as usize) else { return };
        // SAFETY: zeroed actions are valid; the handler matches SA_SIGINFO and does what a handler may do.
        let installed = unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(signal(), std::ptr::null(), &mut old) == 0
                && old.sa_sigaction == libc::SIG_DFL
                && libc::sigaction(signal(), &action, std::ptr::null_mut()) == 0
        };
        if installed {
            CODE[0].store(code.start, Ordering::Relaxed);
            CODE[1].store(code.end, Ordering::Relaxed);
        }
    });
    CODE[1].load(Ordering::Relaxed) != 0
}

/// Starts a timer that sends the signal to this thread again and again.
#[cfg(target_os = "linux")]
fn start() -> Option<libc::timer_t> {
    let time = |time: Duration| libc::timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    let times = libc::itimerspec { it_interval: time(TICK), it_value: time(FIRST_TICK) };
    // SAFETY: zeroed records are valid; the thread is this one; the timer is used only if it was made.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = std::mem::zeroed();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) != 0 {
            return None;
        }
        if libc::timer_settime(timer, 0, &times, std::ptr::null_mut()) != 0 {
            libc::timer_delete(timer);
            return None;
        }
        Some(timer)
    }
}

#[cfg(not(target_os = "linux"))]
fn start() -> Option<libc::timer_t> {
    None
}

unsafe extern "C" fn handler(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let mut watched = WATCHED.get();
    if watched.session.is_null() {
        return;
    }
    // SAFETY: the session is in use on this very thread, and its signs of life are atomic.
    let pulse = unsafe { &(*watched.session).pulse };
    pulse.stop();
    watched.late = true;
    // SAFETY: the kernel's context.
    let instruction = unsafe { signals::instruction(context) };
    let cpu = thread_cpu();
    if watched.beats != pulse.beats() {
        (watched.beats, watched.since) = (pulse.beats(), cpu);
    }
    watched.same = if watched.instruction == instruction { watched.same + 1 } else { 0 };
    watched.instruction = instruction;
    WATCHED.set(watched);
    // Libraries may hold locks that are needed later, of the system heap for example.
    let [start, end] = [&CODE[0], &CODE[1]].map(|end| end.load(Ordering::Relaxed));
    let calculates = cpu.saturating_sub(watched.since) >= PATIENCE && (start..end).contains(&instruction);
    // The engine puts the memory of the program aside, and may take its time.
    let runs = arena::is_active() || current::is_outside();
    if runs && (calculates || watched.same >= BLOCKED) {
        // SAFETY: the kernel's context, of the thread that the timer belongs to. If it cannot be made to leave now,
        // it can at a later tick.
        unsafe { redirect(watched.session, context, late_landing) };
    }
}

landing!(
    /// Where a thread goes on that has done nothing for too long.
    late_landing,
    late
);

/// Leaves the running thread for good, and has the execution repeated.
extern "C" fn late() -> ! {
    let (session, thread) = current::context();
    arena::enter(std::ptr::null_mut());
    current::set_outside(false);
    // SAFETY: the session outlives its fibers, and no reference to it is in use while the code of the program runs, which
    // is where the thread was.
    unsafe { (*session).execution.repeat() };
    leave_for_good(session, thread)
}
