//! Counters of a check.

/// What a check has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Executions in which all threads ended.
    pub complete: u64,
    /// Executions in which a thread can never go on, for a reason that is no violation.
    pub blocked: u64,
    /// Executions that broke a property.
    pub violated: u64,
    /// Executions that were cut at the limit on events.
    pub cut: u64,
    /// Executions without a violation that were met beyond the bound of the search.
    pub beyond: u64,
    /// Executions that were run again in another order, for the memory that they free.
    pub again: u64,
    /// Times that the program was started.
    pub runs: u64,
    /// Events that were repeated.
    pub replayed: u64,
    /// Events that were new.
    pub fresh: u64,
}

impl Stats {
    /// All executions, however they ended.
    pub fn executions(&self) -> u64 {
        self.complete + self.blocked + self.violated + self.cut + self.beyond
    }

    /// These counters, and what others have come to since they were `before`.
    pub fn plus(self, others: Stats, before: Stats) -> Stats {
        Stats {
            complete: self.complete + others.complete - before.complete,
            blocked: self.blocked + others.blocked - before.blocked,
            beyond: self.beyond + others.beyond - before.beyond,
            violated: self.violated + others.violated - before.violated,
            cut: self.cut + others.cut - before.cut,
            again: self.again + others.again - before.again,
            runs: self.runs + others.runs - before.runs,
            replayed: self.replayed + others.replayed - before.replayed,
            fresh: self.fresh + others.fresh - before.fresh,
        }
    }

    /// All events.
    pub fn events(&self) -> u64 {
        self.replayed + self.fresh
    }
}
