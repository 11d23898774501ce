//! Counters of a check.

/// What a check has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

    /// All events.
    pub fn events(&self) -> u64 {
        self.replayed + self.fresh
    }
}
