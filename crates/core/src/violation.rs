//! Violations: broken properties of the program under test.

use crate::event::EventId;
use crate::op::{Addr, Site, ThreadId};

/// A point in a thread: after its first `index` events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The thread.
    pub thread: ThreadId,
    /// How many events it had.
    pub index: u32,
    /// Where in the source.
    pub site: Site,
}

/// One of the two accesses of a data race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Where and when.
    pub point: Point,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// A lock, held since an event, if that is still known.
    Lock {
        /// The lock.
        addr: Addr,
        /// The event that took it.
        held_by: EventId,
    },
    /// A lock that the thread reads already, for another thread to write that waits for it meanwhile.
    Writer {
        /// The lock.
        addr: Addr,
    },
    /// A signal from another thread.
    Signal {
        /// Where it would arrive.
        addr: Addr,
        /// Whether the thread goes on after a while without it, which is another execution.
        timed: bool,
    },
    /// The end of a thread.
    Join(ThreadId),
    /// A loop that only reads, from an event on.
    Spin {
        /// The first event of the iteration.
        from: u32,
        /// The first event since which the thread has come back to the same state in each iteration.
        since: u32,
    },
    /// The end of the process, which the thread has asked for.
    Exit,
    /// A condition that the program asked to assume.
    Assume,
    /// The end of a loop that was cut at the limit on rounds.
    Bound,
}

/// A thread that waits, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter {
    /// Where it waits.
    pub point: Point,
    /// What for.
    pub wait: Wait,
}

/// A block of memory that the program allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The thread that allocated it.
    pub thread: ThreadId,
    /// How many blocks the thread had allocated before.
    pub number: usize,
    /// How many events the thread had had.
    pub birth: u32,
    /// Bytes.
    pub size: u32,
}

/// The kind of a violation, with what there is to know about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A panic that nobody handled.
    Panic {
        /// What it said.
        message: String,
        /// Where it was.
        place: String,
    },
    /// The program found that something is wrong with itself.
    Assertion {
        /// What it said.
        message: String,
        /// Where it was.
        place: String,
    },
    /// Two accesses to one place, unordered, one a write, one not atomic.
    Race {
        /// The two accesses.
        accesses: [Access; 2],
        /// What was accessed.
        object: String,
    },
    /// An object is used by a thread that its initialisation does not happen before.
    Unpublished {
        /// The use.
        access: Access,
        /// Thread that made the object.
        creator: ThreadId,
        /// What was used.
        object: String,
    },
    /// Every thread that is left waits for another.
    Deadlock {
        /// Who waits for what.
        waiters: Vec<Waiter>,
    },
    /// A loop goes round for ever on the newest values.
    Livelock {
        /// Who waits for what.
        waiters: Vec<Waiter>,
    },
    /// A lock was given back by a thread that does not hold it.
    BadUnlock {
        /// What is wrong.
        problem: String,
    },
    /// The program ended the process, and said that something went wrong.
    Exit {
        /// What it said.
        code: i32,
    },
    /// The program ended the process at once.
    Abort,
    /// Memory is used that has been freed, or is freed while another thread may still use it.
    UseAfterFree {
        /// The use.
        access: Access,
        /// Where the memory was freed; its site is unknown.
        freed: Point,
        /// Whether the use comes after the freeing; otherwise nothing orders the two.
        after: bool,
        /// The memory.
        block: Block,
        /// What was used.
        object: String,
    },
    /// An object is used in memory that nothing was written to.
    Uninitialised {
        /// The use.
        access: Access,
        /// The memory.
        block: Block,
        /// What was used.
        object: String,
    },
    /// Memory is used next to a block, or where there is none.
    OutOfBounds {
        /// The use.
        access: Access,
        /// The block that comes last before it.
        block: Option<Block>,
    },
    /// Memory is freed a second time.
    DoubleFree {
        /// Where it was freed first; its site is unknown.
        first: Point,
        /// The memory.
        block: Block,
    },
    /// Something is freed that was not allocated like this.
    InvalidFree {
        /// What is wrong.
        problem: String,
        /// The memory, if it is known.
        block: Option<Block>,
    },
    /// Memory is left behind that nobody can free any more.
    Leak {
        /// The first such block.
        block: Block,
        /// How many others there are.
        others: usize,
    },
    /// The program used an address that it must not use.
    Crash {
        /// The address, and what it looks like.
        problem: String,
    },
}

/// A broken property, with the place where it showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What is broken.
    pub kind: Kind,
    /// Where it showed.
    pub point: Point,
}

impl Kind {
    /// The block of memory that it is about, if it is about one.
    pub fn block(&self) -> Option<Block> {
        match self {
            Kind::UseAfterFree { block, .. }
            | Kind::Uninitialised { block, .. }
            | Kind::DoubleFree { block, .. }
            | Kind::Leak { block, .. } => Some(*block),
            Kind::InvalidFree { block, .. } | Kind::OutOfBounds { block, .. } => *block,
            Kind::Panic { .. }
            | Kind::Assertion { .. }
            | Kind::Race { .. }
            | Kind::Unpublished { .. }
            | Kind::Deadlock { .. }
            | Kind::Livelock { .. }
            | Kind::BadUnlock { .. }
            | Kind::Exit { .. }
            | Kind::Abort
            | Kind::Crash { .. } => None,
        }
    }
}

impl Violation {
    /// The kind in a word or two.
    pub fn title(&self) -> &'static str {
        match self.kind {
            Kind::Panic { .. } => "panic",
            Kind::Assertion { .. } => "failed assertion",
            Kind::Race { .. } => "data race",
            Kind::Unpublished { .. } => "use of an unpublished object",
            Kind::Deadlock { .. } => "deadlock",
            Kind::Livelock { .. } => "livelock",
            Kind::BadUnlock { .. } => "bad unlock",
            Kind::Exit { .. } => "failing exit",
            Kind::Abort => "abort",
            Kind::UseAfterFree { .. } => "use after free",
            Kind::Uninitialised { .. } => "use of uninitialised memory",
            Kind::OutOfBounds { .. } => "access out of bounds",
            Kind::DoubleFree { .. } => "double free",
            Kind::InvalidFree { .. } => "invalid free",
            Kind::Leak { .. } => "leak",
            Kind::Crash { .. } => "crash",
        }
    }
}

#[cfg(test)]
mod tests {
    /// The titles, as the source above lists them, and the kinds in the table of the guide.
    #[test]
    fn the_guide_has_every_kind() {
        let arms = include_str!("violation.rs").lines().filter_map(|line| line.trim().strip_prefix("Kind::"));
        let mut titles: Vec<&str> =
            arms.filter_map(|arm| arm.split_once(" => \"")?.1.strip_suffix("\",")).collect();
        let guide = include_str!("../../../docs/guide.md");
        let (_, table) = guide.split_once("  | kind | meaning |\n").expect("the guide has a table of kinds");
        let rows = table.lines().skip(1).map_while(|line| line.strip_prefix("  | "));
        let kinds = rows.filter_map(|row| row.split(" | ").next());
        let mut told: Vec<&str> = kinds.flat_map(|kinds| kinds.split(", ")).collect();
        titles.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, titles, "the table of kinds in docs/guide.md, and their titles");
    }
}
