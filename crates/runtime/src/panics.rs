//! Panics of the program under test: recorded in silence, and told by the report.
//!
//! The panic hook is process-wide; ours is put before the one that was there, and passes on
//! everything that does not happen in a thread under test.
//!
//! A panic that leaves a destructor while another panic unwinds ends the process, in Rust, and so do
//! the compiler's own checks of pointers. The hook
//! ends the execution instead, so that the violation can be told in full; but std's lock on the
//! hook is held from then on, and the process has to end after the report. In a program that is built
//! with `panic = "abort"` every panic is such a one.
//!
//! A program may catch panics, and go on with one of them later: which one is blamed is told by its
//! payload (`payload`).

mod payload;

use std::any::Any;
use std::panic::PanicHookInfo;
use std::sync::Once;

use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::{Kind, Point, Violation};

use crate::arena::{self, Arena};
use crate::session::Session;
use crate::{current, ops, site};

use payload::Payload;

/// A panic in a thread under test.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    /// Where it began; if the program has caught it and gone on with it, where it has left a thread.
    pub(crate) point: Point,
    pub(crate) message: String,
    pub(crate) place: String,
    payload: Payload,
    /// The thread in which it began.
    origin: ThreadId,
    /// The thread that it has left, the last one if there are several.
    left: Option<ThreadId>,
    /// Whether the program has looked at it, by joining the thread.
    pub(crate) handled: bool,
    /// The panics that this one may pass on, as `join().unwrap()` does.
    passes_on: Vec<usize>,
}

impl Panic {
    /// Whether it has left its thread and nobody has looked at it.
    pub(crate) fn is_unhandled(&self) -> bool {
        self.left.is_some() && !self.handled
    }
}

/// The violation that a panic is if nobody handles it. A panic that passes on another says less than that one.
pub(crate) fn violation(panics: &[Panic], number: usize) -> Violation {
    let panic = &panics[number];
    if let [cause] = panic.passes_on[..] {
        return violation(panics, cause);
    }
    let mut message = panic.message.clone();
    for &cause in &panic.passes_on {
        let cause = &panics[cause];
        message += &format!("\nwhich may be `{}` at {}", cause.message, cause.place);
    }
    if let Some(thread) = panic.left.filter(|&left| left != panic.origin) {
        let names = [panic.origin, thread].map(site::thread_name);
        message += &format!("\n(first in {}, and passed on by {})", names[0], names[1]);
    }
    Violation { kind: Kind::Panic { message, place: panic.place.clone() }, point: panic.point }
}

/// Puts our hook before the one that is there; once.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !std::thread::panicking() {
            put_hook();
        } else if let Ok(thread) = std::thread::Builder::new().spawn(put_hook) {
            // A thread that panics must not do it itself.
            let _ = thread.join();
        }
    });
}

fn put_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if current::get().is_some() {
            let arena = arena::enter(std::ptr::null_mut());
            if is_ours(arena) {
                before(info);
                std::process::abort();
            }
            // SAFETY: the arena of the thread that runs, or null.
            record(info, unsafe { arena.as_mut() });
            arena::enter(arena);
        } else {
            before(info);
        }
    }));
}

/// Whether the panic comes from the engine and not from the program: engine code runs with the
/// thread's memory put aside.
fn is_ours(arena: *mut Arena) -> bool {
    let Some((session, thread)) = current::get() else { return false };
    // SAFETY: we are on the session's OS thread, and the engine, which may have been using it, does
    // not go on if the answer is yes.
    arena.is_null() && !current::is_outside() && unsafe { !(*session).arena(thread).is_null() }
}

/// How the messages of panics begin after which a process ends: in a destructor during another.
const FATAL: [&str; 2] = ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// How the messages of panics begin after which a process ends: the compiler's own checks of pointers.
const POINTERS: [&str; 3] = [
    "null pointer dereference occurred",
    "misaligned pointer dereference",
    "unsafe precondition(s) violated",
];

/// Notes a panic; `arena` is what its thread allocates from.
fn record(info: &PanicHookInfo<'_>, arena: Option<&mut Arena>) {
    let Some((session, thread)) = current::get() else { return };
    let message = info.payload_as_str().unwrap_or("a value that is no text").to_string();
    let place = info.location().map_or_else(String::new, |l| l.to_string());
    // SAFETY: we are on the session's OS thread, and nothing else refers to it now.
    let session_ref = unsafe { &mut *session };
    let index = session_ref.search.execution.position(thread);
    let point = Point { thread, index, site: Site(0) };
    let aborts = cfg!(panic = "abort");
    let fatal = aborts || FATAL.iter().chain(&POINTERS).any(|start| message.starts_with(start));
    if !fatal {
        if let Some(recorder) = &mut session_ref.recorder {
            recorder.panicked(thread, &place);
        }
        let mut payload = Payload::of(info.payload());
        let layout = payload::layout(info.payload());
        payload.address = layout.zip(arena).and_then(|(layout, arena)| arena.foresee(layout));
        let passes_on = match session_ref.passing.take() {
            Some(cause) => vec![cause],
            None if message.ends_with(RESULT) => session_ref.carried(),
            None => Vec::new(),
        };
        let (origin, left, handled) = (thread, None, false);
        session_ref.panics.push(Panic { point, message, place, payload, origin, left, handled, passes_on });
        return;
    }
    let causes: Vec<String> = session_ref
        .panics
        .iter()
        .filter(|panic| panic.origin == thread)
        .map(|panic| format!("`{}` at {}", panic.message, panic.place))
        .collect();
    let (message, place) = if aborts || POINTERS.iter().any(|start| message.starts_with(start)) {
        if let Some(recorder) = &mut session_ref.recorder {
            recorder.panicked(thread, &place);
        }
        (message, place)
    } else {
        let place = session_ref.panics.last().map_or(place, |panic| panic.place.clone());
        (format!("a destructor panicked while another panic unwound: {}", causes.join(", then ")), place)
    };
    session_ref.search.execution.fail(Violation { kind: Kind::Panic { message, place }, point });
    session_ref.fatal = true;
    session_ref.needs_new_thread = true;
    ops::leave_for_good(session, thread);
}

/// How the message of a panic ends that `unwrap` makes of the result of a thread.
const RESULT: &str = "Any { .. }";

impl Session {
    /// The panics of threads that the program has joined, and whose payloads it still has.
    fn carried(&self) -> Vec<usize> {
        let is_carried = |panic: &Panic| {
            panic.left.is_some() && panic.handled && panic.payload.address.is_none_or(|at| !self.is_freed(at))
        };
        let all = self.panics.iter().enumerate();
        all.filter(|(_, panic)| is_carried(panic)).map(|(number, _)| number).collect()
    }

    /// Whether memory that the program has had is known to have been freed.
    fn is_freed(&self, address: usize) -> bool {
        let all = self.heap.arenas.iter().flatten().chain(&self.heap.keeping);
        all.into_iter().any(|arena| arena.has_freed(address))
    }

    /// A panic has left a thread: which one it is.
    fn escaped(&mut self, thread: ThreadId, payload: &(dyn Any + Send)) -> usize {
        let point = Point { thread, index: self.search.execution.position(thread), site: Site(0) };
        let found = payload::find(&self.panics, payload);
        let number = found.unwrap_or_else(|| {
            // It comes from outside the check, or has a payload that the program has made.
            let (message, place) = (payload::text(payload), String::new());
            let (payload, passes_on) = (Payload::of(payload), Vec::new());
            let (origin, left, handled) = (thread, None, false);
            self.panics.push(Panic { point, message, place, payload, origin, left, handled, passes_on });
            self.panics.len() - 1
        });
        let latest = self.panics.iter().rposition(|panic| panic.origin == thread);
        let panic = &mut self.panics[number];
        if latest != Some(number) || panic.left.is_some() {
            // The program has caught it, and goes on with it now: only what it has done until here leads to that.
            panic.point = point;
        }
        (panic.left, panic.handled) = (Some(thread), false);
        number
    }
}

/// Says that a panic has left the calling thread, with its payload.
pub fn escape(payload: &(dyn Any + Send)) {
    let Some((session, thread)) = current::get() else { return };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `record`.
    unsafe { (*session).escaped(thread, payload) };
    arena::enter(arena);
}

/// Ends the execution, since a panic has come where it ends a process: it has left the main thread, or
/// the destructor of a thread-local.
pub fn end_execution(payload: &(dyn Any + Send)) {
    let Some((session, thread)) = current::get() else { return };
    arena::enter(std::ptr::null_mut());
    // SAFETY: as in `record`.
    let session_ref = unsafe { &mut *session };
    let number = session_ref.escaped(thread, payload);
    let violation = violation(&session_ref.panics, number);
    session_ref.search.execution.fail(violation);
    ops::leave_for_good(session, thread);
}

/// Says that the program has looked at the panic of a thread.
pub fn handle(thread: ThreadId) {
    let Some((session, _)) = current::get() else { return };
    // SAFETY: as in `record`.
    let session = unsafe { &mut *session };
    for panic in session.panics.iter_mut() {
        // One that has not left its thread was caught there.
        panic.handled |= panic.left.unwrap_or(panic.origin) == thread;
    }
}

/// Says that the calling thread is about to panic since threads of a scope have: it passes on what the first of them had.
pub fn pass_on(threads: &[ThreadId]) {
    let Some((session, _)) = current::get() else { return };
    // SAFETY: as in `record`.
    let session = unsafe { &mut *session };
    let is_theirs = |panic: &Panic| panic.left.is_some_and(|left| threads.contains(&left));
    session.passing = session.panics.iter().position(is_theirs);
}

/// Notes where a payload was put that the system heap holds.
pub(crate) fn boxed(address: usize) {
    let Some((session, _)) = current::get() else { return };
    // SAFETY: as in `record`.
    if let Some(panic) = unsafe { (*session).panics.last_mut() } {
        panic.payload.address = Some(address);
    }
}

/// Whether the calling thread of the program is unwinding.
pub fn panicking() -> bool {
    let Some((session, thread)) = current::get() else { return std::thread::panicking() };
    // SAFETY: as in `record`.
    unsafe { (*session).unwinds(thread) }
}

impl Session {
    /// Whether a thread unwinds: the one that runs, or was the last to run. std has one answer for all, since they share an OS thread.
    fn unwinds(&self, thread: ThreadId) -> bool {
        let alone = !self.has_left_unwinding && self.unwinding.iter().all(|&other| other == thread);
        let may =
            || self.unwinding.contains(&thread) || self.panics.iter().any(|panic| panic.origin == thread);
        std::thread::panicking() && (alone || may())
    }

    /// A thread has stopped while it or another one unwinds.
    #[cold]
    pub(crate) fn note_unwinding(&mut self, thread: ThreadId) {
        let unwinds = self.unwinds(thread);
        self.unwinding.retain(|&other| other != thread);
        self.unwinding.extend(unwinds.then_some(thread));
    }
}
