//! Events: ops that took place in one execution.

use crate::op::{Addr, Kind, Mode, Op, Rmw, Site, ThreadId, Value, apply, name};

/// An event of the graph: its thread and its position there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId {
    /// The thread.
    pub thread: ThreadId,
    /// How many events the thread had before.
    pub index: u32,
}

impl EventId {
    /// The initial write of every location. It is before everything and in no thread.
    pub const INIT: EventId = EventId { thread: ThreadId(u32::MAX), index: u32::MAX };

    /// The event of `thread` at `index`.
    #[inline(always)]
    pub fn new(thread: ThreadId, index: usize) -> EventId {
        EventId { thread, index: index as u32 }
    }

    /// Whether this is the initial write.
    #[inline(always)]
    pub fn is_init(self) -> bool {
        self.thread.0 == u32::MAX
    }
}

/// One event. `Copy` and one cache line long: graphs are copied and scanned all the time. The order of the
/// fields is kept, so that [`Event::matches`] compares four of them at once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Event {
    /// Value written, result of a choice, or the thread that was spawned or joined.
    pub value: Value,
    /// Operand of a read-modify-write.
    pub operand: Value,
    /// Expected value of a compare-and-exchange, or the bound of a choice.
    pub expected: Value,
    /// Where in the source.
    pub site: Site,
    /// The write that a read sees.
    pub rf: EventId,
    /// The location.
    pub addr: Addr,
    /// Position in the order of insertion.
    pub stamp: u32,
    /// Where the event's clocks are.
    pub clock: u32,
    /// Kind of operation.
    pub kind: Kind,
    /// What a read-modify-write computes.
    pub rmw: Rmw,
    /// Memory order; for a compare-and-exchange that of success.
    pub mode: Mode,
    /// Memory order of a compare-and-exchange that fails.
    pub failure: Mode,
    /// Width of the value in bytes.
    pub width: u8,
    /// See the constants of [`Event`].
    pub flags: u8,
}

impl Event {
    /// A read that also writes: a read-modify-write that succeeded.
    pub const UPDATE: u8 = 1;
    /// The read acquires, by its mode and by the memory model.
    pub const ACQUIRES: u8 = 2;
    /// The write releases, by its mode and by the memory model.
    pub const RELEASES: u8 = 4;
    /// Sequentially consistent as it happened: a failed exchange has its failure mode.
    pub const SEQCST: u8 = 8;
    /// Known not to be what the search would do by default.
    pub const DEVIATES: u8 = 16;
    /// A weak exchange that failed without a reason.
    pub const SPURIOUS: u8 = 32;
    /// Values are addresses.
    pub const POINTER: u8 = 64;

    /// What an event with this mode may do.
    #[inline(always)]
    pub(crate) fn flags_of(mode: Mode) -> u8 {
        // A byte for each mode: faster than a table.
        const ALL: u64 = {
            let (acquires, releases) = (Event::ACQUIRES as u64, Event::RELEASES as u64);
            let both = acquires | releases;
            acquires << (8 * Mode::Acquire as u64)
                | releases << (8 * Mode::Release as u64)
                | both << (8 * Mode::AcqRel as u64)
                | (both | Event::SEQCST as u64) << (8 * Mode::SeqCst as u64)
        };
        (ALL >> (8 * mode as u64)) as u8
    }

    /// The request that became the event.
    pub fn op(&self) -> Op {
        Op {
            kind: self.kind,
            rmw: self.rmw,
            mode: self.mode,
            failure: self.failure,
            width: self.width,
            pointer: self.has(Event::POINTER),
            addr: self.addr,
            operand: self.operand,
            expected: self.expected,
            site: self.site,
        }
    }

    /// Whether the flag is set.
    #[inline(always)]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether the event reads memory.
    #[inline(always)]
    pub fn is_read(&self) -> bool {
        self.kind == Kind::Read
    }

    /// Whether the event writes memory.
    #[inline(always)]
    pub fn is_write(&self) -> bool {
        self.kind == Kind::Write || self.is_update()
    }

    /// Whether the event is a read-modify-write that wrote.
    #[inline(always)]
    pub fn is_update(&self) -> bool {
        self.has(Event::UPDATE)
    }

    /// Whether the event could go another way although nothing else has changed: a choice that is no
    /// guess, or an exchange that failed without a reason.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.kind == Kind::Choice && self.rmw == Rmw::None || self.has(Event::SPURIOUS)
    }

    /// Whether the time of a wait is over, after whatever took place before.
    #[inline(always)]
    pub fn is_timeout(&self) -> bool {
        self.kind == Kind::Choice && self.rmw == Rmw::GiveUp
    }

    /// Whether the event is a sequentially consistent fence.
    #[inline(always)]
    pub fn is_seqcst_fence(&self) -> bool {
        self.kind == Kind::Fence && self.has(Event::SEQCST)
    }

    /// What the event writes when it reads `old`.
    #[inline(always)]
    pub fn apply(&self, old: Value) -> Option<Value> {
        apply(self.rmw, self.width, old, self.operand, self.expected)
    }

    /// The mode as it happened: that of failure for an exchange that failed.
    #[inline(always)]
    pub fn effective_mode(&self) -> Mode {
        if self.kind == Kind::Read && self.rmw != Rmw::None && !self.is_update() {
            self.failure
        } else {
            self.mode
        }
    }

    /// Whether this event is what `op` would become: the same request at the same kind of place.
    #[inline(always)]
    pub fn matches(&self, op: &Op) -> bool {
        let shape = [self.kind as u8, self.rmw as u8, self.mode as u8, self.failure as u8];
        let wanted = [op.kind as u8, op.rmw as u8, op.mode as u8, op.failure as u8];
        u32::from_ne_bytes(shape) == u32::from_ne_bytes(wanted) && self.addr == op.addr
    }

    /// How the operation is called in a report.
    pub fn name(&self) -> &'static str {
        name(self.kind, self.rmw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_cache_line() {
        assert!(std::mem::size_of::<Event>() <= 64, "{}", std::mem::size_of::<Event>());
    }
}
