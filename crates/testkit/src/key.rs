//! The canonical form of an execution graph: equal keys, equal graphs.
//!
//! The rule: a key holds what a program and a memory model leave open, and nothing about how the
//! graph was found. Any engine can produce it. Events of a thread are numbered from 0, in program
//! order; a lock is an update `0 -> 1` of its word, an unlock a write of 0, a failed `trylock` or
//! compare-and-swap a read, a choice an event with the value chosen. A lock that is waited for has
//! no event. Places: the locations first, then the words of the locks.

use std::fmt;

use crate::program::Value;

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Reads and writes in one step.
    Update,
    /// A fence.
    Fence,
    /// A choice of the program.
    Choice,
}

/// An event by position: thread, and number within the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventAt {
    /// The thread.
    pub thread: u16,
    /// The position among the thread's events.
    pub index: u16,
}

/// Where a read gets its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The initial write.
    Init,
    /// A write or an update.
    Event(EventAt),
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyEvent {
    /// What it does.
    pub kind: Kind,
    /// The place accessed: none for fences and choices.
    pub place: Option<u16>,
    /// The value read, or chosen.
    pub read: Option<Value>,
    /// The value written.
    pub written: Option<Value>,
    /// Where the value read comes from.
    pub rf: Option<Source>,
}

/// A graph: the events of each thread, and the order of the writes at each place without the
/// initial one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Per thread, in program order.
    pub threads: Vec<Vec<KeyEvent>>,
    /// Per place, in modification order; places without writes have an empty list.
    pub mo: Vec<Vec<EventAt>>,
}

impl fmt::Display for EventAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.thread, self.index)
    }
}

impl fmt::Display for KeyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.kind {
            Kind::Read => "R",
            Kind::Write => "W",
            Kind::Update => "U",
            Kind::Fence => "F",
            Kind::Choice => "C",
        };
        f.write_str(letter)?;
        if let Some(place) = self.place {
            write!(f, "{place}")?;
        }
        if let Some(read) = self.read {
            write!(f, "={read}")?;
        }
        match self.rf {
            Some(Source::Init) => f.write_str("<init")?,
            Some(Source::Event(at)) => write!(f, "<{at}")?,
            None => {}
        }
        if let Some(written) = self.written {
            write!(f, ":={written}")?;
        }
        Ok(())
    }
}

/// One line: threads between `||`, then the writes of each written place.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, thread) in self.threads.iter().enumerate() {
            f.write_str(if index > 0 { " || " } else { "" })?;
            let events: Vec<String> = thread.iter().map(KeyEvent::to_string).collect();
            f.write_str(&events.join(" "))?;
        }
        for (place, order) in self.mo.iter().enumerate().filter(|(_, order)| !order.is_empty()) {
            let writes: Vec<String> = order.iter().map(EventAt::to_string).collect();
            write!(f, " | mo{place}: {}", writes.join(" "))?;
        }
        Ok(())
    }
}
