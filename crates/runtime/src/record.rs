//! What is kept of an execution that is run once more to be told about.

use unpick_core::op::{Site, ThreadId};
use unpick_core::trace::{Frame, Place};
use unpick_core::violation::{Block, Point};

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
pub type Frames = Vec<Frame>;

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
    /// The panics, with their places and stacks.
    pub panics: Vec<(ThreadId, String, Calls)>,
    /// The block whose allocation and freeing are wanted: its thread and number.
    pub(crate) block: Option<(ThreadId, usize)>,
    /// The stack of the allocation of that block.
    pub allocation: Option<Calls>,
    /// The stack of its first freeing.
    pub free: Option<(ThreadId, Calls)>,
    /// The stack at a memory error.
    pub fault: Option<(ThreadId, Calls)>,
}

impl Recorder {
    /// A recorder that keeps the stacks at some points, and where a block is allocated and freed.
    pub fn new(wanted: Vec<Point>, block: Option<Block>) -> Recorder {
        let block = block.map(|block| (block.thread, block.number));
        Recorder { wanted, block, ..Recorder::default() }
    }

    pub(crate) fn begin(&mut self) {
        self.labels.clear();
        self.stacks.clear();
        self.panics.clear();
        (self.allocation, self.free, self.fault) = (None, None, None);
    }

    pub(crate) fn allocated(&mut self) {
        self.allocation = Some(Calls::take());
    }

    pub(crate) fn freed(&mut self, owner: ThreadId, number: usize, thread: ThreadId) {
        if self.block == Some((owner, number)) && self.free.is_none() {
            self.free = Some((thread, Calls::take()));
        }
    }

    pub(crate) fn faulted(&mut self, thread: ThreadId) {
        self.fault = Some((thread, Calls::take()));
    }

    pub(crate) fn label(&mut self, thread: ThreadId, index: u32, text: String, site: Site) {
        self.labels.push(Label { thread, index, text, site });
    }

    pub(crate) fn note(&mut self, point: Point) {
        if self.wanted.contains(&point) && !self.stacks.iter().any(|(known, _)| *known == point) {
            self.stacks.push((point, Calls::take()));
        }
    }

    pub(crate) fn panicked(&mut self, thread: ThreadId, place: &str) {
        self.panics.push((thread, place.to_string(), Calls::take()));
    }
}

impl Calls {
    /// The call stack of the caller.
    pub(crate) fn take() -> Calls {
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
            let mut found = resolve(call.saturating_sub(1));
            // Some instructions are of no line. The one before is not far.
            let mut before = (2..=MOST_BYTES).map(|bytes| resolve(call.saturating_sub(bytes)));
            let function = found.last().map(|frame| frame.function.clone());
            if found.iter().all(|frame| frame.place.is_none())
                && let Some(placed) = before.find(|frames| {
                    frames.last().map(|frame| &frame.function) == function.as_ref()
                        && frames.iter().any(|frame| frame.place.is_some())
                })
            {
                found = placed;
            }
            frames.extend(found);
        }
        trim(&mut frames);
        frames
    }

    /// The functions of the program in the stack, without those of the standard library that it
    /// called last.
    pub fn frames_of_program(&self) -> Frames {
        let all = self.frames();
        let is_library = |Frame { function: name, place }: &&Frame| {
            let by_place = |place: &Place| LIBRARY.iter().any(|part| place.file.contains(part));
            let by_name = || CRATES.iter().any(|part| name.trim_start_matches('<').starts_with(part));
            name.contains("__rust")
                || BELOW.iter().any(|part| name.contains(part))
                || place.as_ref().map_or_else(by_name, by_place)
        };
        let inner = all.iter().take_while(is_library).count();
        if inner == all.len() { all } else { all[inner..].to_vec() }
    }
}

/// How far an instruction without a line may be from one that has one.
const MOST_BYTES: usize = 48;

/// The functions that the code at an address is of, innermost first.
fn resolve(address: usize) -> Frames {
    let mut frames = Frames::new();
    backtrace::resolve(address as *mut std::ffi::c_void, |symbol| {
        let name = symbol.name().map_or_else(|| String::from("?"), |name| format!("{name:#}"));
        let known = symbol.filename().zip(symbol.lineno().filter(|&line| line > 0));
        let place = known.map(|(file, line)| Place {
            file: file.display().to_string(),
            line,
            column: symbol.colno().unwrap_or(1),
        });
        frames.push(Frame { function: name, place });
    });
    frames
}

/// Parts of the paths of the standard library's files.
const LIBRARY: [&str; 4] = ["/rustc/", "/library/alloc/", "/library/core/", "/library/std/"];

/// What the names of the standard library's functions begin with.
const CRATES: [&str; 3] = ["alloc::", "core::", "std::"];

/// Leaves out what is not the program's.
fn trim(frames: &mut Frames) {
    // What lies below and above the program: our own calls, and the machinery of panics.
    let outer = frames.iter().position(|frame| frame.function.contains("unpick_runtime::session::work"));
    frames.truncate(outer.unwrap_or(frames.len()));
    let is_any = |name: &str, parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let inner = frames.iter().take_while(|frame| is_any(&frame.function, &BELOW)).count();
    frames.drain(..inner);
    while frames.last().is_some_and(|frame| is_any(&frame.function, &ABOVE)) {
        frames.pop();
    }
}

/// Parts of the names of functions that user code calls into.
const BELOW: [&str; 16] = [
    "backtrace::",
    "pthread_create",
    "__rust_end_short_backtrace",
    "unpick_driver::",
    "unpick_runtime::",
    "unpick::alloc::",
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
