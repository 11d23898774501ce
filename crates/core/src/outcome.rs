//! How one execution ended.

use crate::event::Event;
use crate::op::{Op, ThreadId};
use crate::violation::{Point, Violation, Waiter};

/// How one execution ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All threads ended.
    Complete,
    /// Some threads can never go on.
    Blocked(Vec<Waiter>),
    /// A property was broken on the way.
    Violated(Box<Violation>),
    /// It grew past the limit on events, in this thread.
    Cut(Point),
    /// The strategy ended it.
    Ended,
    /// The program did not repeat itself.
    Diverged(Box<Divergence>),
    /// The front-end asked for the same run again.
    Rerun,
}

/// Where a replay went astray.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The thread.
    pub thread: ThreadId,
    /// What was recorded.
    pub before: Option<Event>,
    /// What the thread asked for.
    pub now: Option<Op>,
}
