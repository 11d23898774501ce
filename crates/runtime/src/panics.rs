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

use std::any::Any;
use std::panic::PanicHookInfo;
use std::sync::Once;

use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::{Kind, Point, Violation};

use crate::arena::{self, Arena};
use crate::{current, ops};

/// A panic in a thread under test.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) point: Point,
    pub(crate) message: String,
    pub(crate) place: String,
    /// Whether it has left the thread.
    pub(crate) escaped: bool,
    /// Whether the program has looked at it, by joining the thread.
    pub(crate) handled: bool,
}

impl Panic {
    /// Whether it has left its thread and nobody has looked at it.
    pub(crate) fn is_unhandled(&self) -> bool {
        self.escaped && !self.handled
    }

    /// The violation that it is if nobody handles it.
    pub(crate) fn violation(&self) -> Violation {
        let kind = Kind::Panic { message: self.message.clone(), place: self.place.clone() };
        Violation { kind, point: self.point }
    }
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
            record(info);
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

fn record(info: &PanicHookInfo<'_>) {
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
            recorder.panicked(thread);
        }
        session_ref.panics.push(Panic { point, message, place, escaped: false, handled: false });
        return;
    }
    let causes: Vec<String> = session_ref
        .panics
        .iter()
        .filter(|panic| panic.point.thread == thread)
        .map(|panic| format!("`{}` at {}", panic.message, panic.place))
        .collect();
    let (message, place) = if aborts || POINTERS.iter().any(|start| message.starts_with(start)) {
        if let Some(recorder) = &mut session_ref.recorder {
            recorder.panicked(thread);
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

/// Says that a panic has left the calling thread, with its payload.
pub fn escape(payload: &(dyn Any + Send)) {
    let Some((session, thread)) = current::get() else { return };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `record`.
    let session = unsafe { &mut *session };
    let own = session.panics.iter_mut().rev().find(|panic| panic.point.thread == thread);
    if let Some(panic) = own {
        panic.escaped = true;
    } else {
        // It was carried here from elsewhere, by `resume_unwind`.
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let message = text.unwrap_or_else(|| String::from("a value that is no text"));
        let point = Point { thread, index: session.search.execution.position(thread), site: Site(0) };
        let place = String::new();
        session.panics.push(Panic { point, message, place, escaped: true, handled: false });
    }
    arena::enter(arena);
}

/// Ends the execution, since a panic has come where it ends a process: it has left the main thread, or
/// the destructor of a thread-local.
pub fn end_execution(payload: &(dyn Any + Send)) {
    escape(payload);
    let Some((session, thread)) = current::get() else { return };
    arena::enter(std::ptr::null_mut());
    // SAFETY: as in `record`.
    let session_ref = unsafe { &mut *session };
    let panics = &session_ref.panics;
    let own = panics.iter().rev().find(|panic| panic.point.thread == thread);
    // `join().unwrap()` passes on the panic of another thread, which says more.
    let passed_on = own.is_some_and(|panic| {
        panic.message.ends_with("Any { .. }") || panic.message == "a scoped thread panicked"
    });
    let cause = panics.iter().rev().find(|panic| passed_on && panic.handled);
    if let Some(violation) = cause.or(own).map(Panic::violation) {
        session_ref.search.execution.fail(violation);
    }
    ops::leave_for_good(session, thread);
}

/// Says that the program has looked at the panic of a thread.
pub fn handle(thread: ThreadId) {
    let Some((session, _)) = current::get() else { return };
    // SAFETY: as in `record`.
    let session = unsafe { &mut *session };
    for panic in session.panics.iter_mut().filter(|panic| panic.point.thread == thread) {
        panic.handled = true;
    }
}

/// Whether the calling thread of the program is unwinding.
pub fn panicking() -> bool {
    let Some((session, thread)) = current::get() else { return std::thread::panicking() };
    // SAFETY: as in `record`.
    let session = unsafe { &mut *session };
    std::thread::panicking() && session.panics.iter().any(|panic| panic.point.thread == thread)
}
