//! What is kept of an execution that is run once more to be told about.

use unpick_core::op::{Site, ThreadId};
use unpick_core::trace::Place;
use unpick_core::violation::Point;

/// A remark of the program.
#[derive(Clone, Debug)]
pub struct Label {
    /// The thread.
    pub thread: ThreadId,
    /// How many events it had.
    pub index: u32,
    /// The remark.
    pub text: String,
    /// Where.
    pub site: Site,
}

/// Function names and places, innermost first.
pub type Frames = Vec<(String, Option<Place>)>;

/// A call stack as it is taken on a fiber, whose own stack may be small: addresses, to be resolved
/// later.
#[derive(Clone, Debug, Default)]
pub struct Calls(Vec<usize>);

/// Labels, and call stacks at wanted points.
#[derive(Debug, Default)]
pub struct Recorder {
    wanted: Vec<Point>,
    /// The labels.
    pub labels: Vec<Label>,
    /// The stacks at those wanted points that were reached.
    pub stacks: Vec<(Point, Calls)>,
    /// The stack of the first panic.
    pub panic: Option<(ThreadId, Calls)>,
}

impl Recorder {
    /// A recorder that keeps the stacks at some points.
    pub fn new(wanted: Vec<Point>) -> Recorder {
        Recorder { wanted, ..Recorder::default() }
    }

    pub(crate) fn begin(&mut self) {
        self.labels.clear();
        self.stacks.clear();
        self.panic = None;
    }

    pub(crate) fn label(&mut self, thread: ThreadId, index: u32, text: String, site: Site) {
        self.labels.push(Label { thread, index, text, site });
    }

    pub(crate) fn note(&mut self, point: Point) {
        if self.wanted.contains(&point) && !self.stacks.iter().any(|(known, _)| *known == point) {
            self.stacks.push((point, Calls::take()));
        }
    }

    pub(crate) fn panicked(&mut self, thread: ThreadId) {
        if self.panic.is_none() {
            self.panic = Some((thread, Calls::take()));
        }
    }
}

impl Calls {
    /// The call stack of the caller.
    fn take() -> Calls {
        let mut calls = Vec::with_capacity(64);
        backtrace::trace(|frame| {
            calls.push(frame.ip() as usize);
            calls.len() < 200
        });
        Calls(calls)
    }

    /// The functions of the program in the stack.
    pub fn frames(&self) -> Frames {
        let mut frames = Frames::new();
        for &call in &self.0 {
            // The address is where the call returns to; the call itself is before.
            backtrace::resolve(call.saturating_sub(1) as *mut std::ffi::c_void, |symbol| {
                let name = symbol.name().map_or_else(|| String::from("?"), |name| format!("{name:#}"));
                let place = symbol.filename().zip(symbol.lineno()).map(|(file, line)| Place {
                    file: file.display().to_string(),
                    line,
                    column: symbol.colno().unwrap_or(1),
                });
                frames.push((name, place));
            });
        }
        trim(&mut frames);
        frames
    }
}

/// Leaves out what is not the program's.
fn trim(frames: &mut Frames) {
    // What lies below and above the program: our own calls, and the machinery of panics.
    let outer = frames.iter().position(|(name, _)| name.contains("unpick_runtime::session::work"));
    frames.truncate(outer.unwrap_or(frames.len()));
    let is_any = |name: &str, parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let inner = frames.iter().take_while(|(name, _)| is_any(name, &BELOW)).count();
    frames.drain(..inner);
    while frames.last().is_some_and(|(name, _)| is_any(name, &ABOVE)) {
        frames.pop();
    }
}

/// Parts of the names of functions that user code calls into.
const BELOW: [&str; 13] = [
    "backtrace::",
    "__rust_end_short_backtrace",
    "unpick_runtime::",
    "unpick::sync::",
    "unpick::cell::",
    "unpick::thread::",
    "unpick::future::",
    "unpick::process::",
    "core::panicking::",
    "core::result::unwrap_failed",
    "core::option::",
    "std::panicking::",
    "alloc::boxed::Box",
];

/// Parts of the names of functions between a thread's closure and the runtime.
const ABOVE: [&str; 9] = [
    "unpick::attribute::",
    "unpick::thread::",
    "catch_unwind",
    "AssertUnwindSafe",
    "FnOnce::call_once",
    "FnOnce<()>>::call_once",
    "__rust_try",
    "std::panicking::",
    "alloc::boxed::Box",
];
