//! A failing execution as plain data: what a report is made from.
//!
//! Steps stand in one order that extends `po ∪ rf`, with as few changes of thread as possible.
//! Front-ends fill it by running the failing execution once more.
//!
//! With the feature `serde` it can be written and read. A front-end that knows no names has places, objects and frames of
//! its own in it, until whoever knows the names puts in those of the report.

use std::borrow::Cow;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::op::Mode;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Place {
    /// Path as the compiler knows it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TraceThread<P = Place> {
    /// `main`, or the name that the program gave it, or `T1`, `T2`, ...
    pub name: String,
    /// Where it was spawned.
    pub spawned: Option<P>,
}

/// A location, lock or cell that the execution used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Object {
    /// Its type, such as `AtomicUsize` or `Mutex`.
    pub kind: String,
    /// A name: taken from the source where possible, else made up from the kind and a number.
    pub name: String,
}

/// Which write a read saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(Serialize, Deserialize),
    serde(from = "Option<usize>", into = "Option<usize>")
)]
pub enum Source {
    /// The value that the object was made with.
    Initial,
    /// The step with this index in [`Trace::steps`].
    Step(usize),
}

impl From<Option<usize>> for Source {
    fn from(step: Option<usize>) -> Source {
        step.map_or(Source::Initial, Source::Step)
    }
}

impl From<Source> for Option<usize> {
    fn from(source: Source) -> Option<usize> {
        match source {
            Source::Initial => None,
            Source::Step(step) => Some(step),
        }
    }
}

/// What a read saw, and why it may.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Seen {
    /// The value.
    pub value: u64,
    /// The write.
    #[cfg_attr(feature = "serde", serde(rename = "from"))]
    pub source: Source,
    /// Whether a newer write stood earlier in this trace, so that the read is stale.
    pub stale: bool,
    /// Why a stale value may be seen, in words.
    pub why: Option<String>,
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "type", rename_all = "snake_case"))]
pub enum Action {
    /// A read: `load`, or a `compare_exchange` or `try_lock` that failed.
    Read {
        /// How the operation is called.
        name: Cow<'static, str>,
        /// Index in [`Trace::objects`].
        object: usize,
        /// Memory order.
        mode: Mode,
        /// What was seen.
        seen: Seen,
        /// What an exchange that failed had expected.
        expected: Option<u64>,
    },
    /// A write: `store` or `unlock`.
    Write {
        /// How the operation is called.
        name: Cow<'static, str>,
        /// Index in [`Trace::objects`].
        object: usize,
        /// Memory order.
        mode: Mode,
        /// The value.
        value: u64,
        /// A write that stands earlier in this trace, and yet is newer in the object's own order.
        before: Option<usize>,
    },
    /// A read-modify-write that wrote: `fetch_add`, `swap`, `lock`, ...
    Update {
        /// How the operation is called.
        name: Cow<'static, str>,
        /// Index in [`Trace::objects`].
        object: usize,
        /// Memory order.
        mode: Mode,
        /// What was seen.
        seen: Seen,
        /// The value written.
        value: u64,
    },
    /// A part of a call that takes several steps: of a `Condvar`, an `RwLock`, a channel, ...
    Call {
        /// The call, as the program spells it.
        call: String,
        /// Index in [`Trace::objects`].
        object: usize,
        /// What this step of it does, in words; empty if there is nothing to say.
        part: String,
        /// The step of the same object that it comes after, where it has looked.
        after: Option<usize>,
    },
    /// A fence.
    Fence {
        /// Memory order.
        mode: Mode,
    },
    /// Started the thread with this index in [`Trace::threads`].
    Spawn {
        /// The thread.
        thread: usize,
    },
    /// Waited for the end of a thread.
    Join {
        /// The thread.
        thread: usize,
    },
    /// The thread ended.
    End,
    /// A choice.
    Choice {
        /// What was chosen.
        value: u64,
        /// How many there were.
        bound: u64,
    },
    /// A remark that the program made.
    Label {
        /// The remark.
        text: String,
    },
    /// A plain access that takes part in the violation.
    Access {
        /// Index in [`Trace::objects`].
        object: usize,
        /// Whether it writes.
        writes: bool,
    },
    /// A block of memory was allocated, with which the violation has to do.
    Allocation {
        /// Bytes.
        size: usize,
    },
    /// That block was freed.
    Free,
    /// The program used an address that it must not use.
    Crash {
        /// What is wrong with it.
        problem: String,
    },
    /// A panic.
    Panic {
        /// What it said.
        message: String,
    },
    /// The program found that something is wrong with itself, or ended with a code that says so.
    Failure {
        /// What it said.
        message: String,
    },
    /// The thread waits here for ever.
    Waits {
        /// What for, in words.
        reason: String,
    },
}

/// One step of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Step<P = Place> {
    /// Index in [`Trace::threads`].
    pub thread: usize,
    /// Where in the source.
    pub place: Option<P>,
    /// What happened.
    pub action: Action,
    /// Whether the violation depends on this step.
    pub deciding: bool,
}

/// A function on a call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Frame {
    /// Its name.
    pub function: String,
    /// Where it goes on.
    pub place: Option<Place>,
}

/// A call stack at a point of interest, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Stack<F = Frame> {
    /// What the stack is of, in words.
    pub title: String,
    /// The functions.
    pub frames: Vec<F>,
}

/// A failing execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Trace<P = Place, O = Object, F = Frame> {
    /// The threads; the main thread is the first.
    pub threads: Vec<TraceThread<P>>,
    /// The objects.
    pub objects: Vec<O>,
    /// The steps.
    pub steps: Vec<Step<P>>,
    /// Call stacks.
    pub stacks: Vec<Stack<F>>,
}

impl<P, O, F> Trace<P, O, F> {
    /// What steps refer to by an index that is too high: a thread, an object or a step. Steps that are seen stand before those that see
    /// them.
    pub fn dangling(&self) -> Option<&'static str> {
        let [mut thread, mut object, mut step] = [0; 3].map(|_: usize| None);
        for (index, Step { thread: own, action, .. }) in self.steps.iter().enumerate() {
            thread = thread.max(Some(*own));
            let (uses, sees) = match action {
                Action::Read { object, seen, .. } | Action::Update { object, seen, .. } => {
                    (Some(*object), Option::from(seen.source))
                }
                Action::Write { object, before, .. } => (Some(*object), *before),
                Action::Call { object, after, .. } => (Some(*object), *after),
                Action::Access { object, .. } => (Some(*object), None),
                Action::Spawn { thread: other } | Action::Join { thread: other } => {
                    thread = thread.max(Some(*other));
                    (None, None)
                }
                _ => (None, None),
            };
            object = object.max(uses);
            step = step.max(sees.filter(|&sees| sees >= index));
        }
        let exceeds = |most: Option<usize>, len: usize| most.is_some_and(|most| most >= len);
        match () {
            () if exceeds(thread, self.threads.len()) => Some("a thread"),
            () if exceeds(object, self.objects.len()) => Some("an object"),
            () if step.is_some() => Some("an earlier step"),
            () => None,
        }
    }
}

impl<P, O, F> Default for Trace<P, O, F> {
    fn default() -> Trace<P, O, F> {
        Trace { threads: Vec::new(), objects: Vec::new(), steps: Vec::new(), stacks: Vec::new() }
    }
}

/// A violation, ready to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Finding<P = Place, O = Object, F = Frame> {
    /// The kind in a word or two, as [`Violation::title`](crate::violation::Violation::title) says.
    pub title: String,
    /// What is wrong, a sentence per line.
    pub message: Vec<String>,
    /// Where it showed.
    pub place: Option<P>,
    /// The line of source there, as it was.
    pub line: Option<String>,
    /// The execution.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub trace: Trace<P, O, F>,
    /// The schedule that leads there, or the file that holds it.
    pub token: String,
    /// Name of the memory model.
    pub model: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Number of the execution that failed, from 1.
    pub execution: u64,
}
