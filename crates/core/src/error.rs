//! What can go wrong that is neither a bug in the program under test nor one in us.
//!
//! A bug in the program is a [`Violation`](crate::violation::Violation): a result, printed by the
//! report. A bug in us is a panic. An `Error` is left for the user to act on, so each message
//! says what happened and what to do next.

use std::fmt;

/// A reason why a check could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The program did something else than it did under the same schedule before.
    Diverged {
        /// The thread.
        thread: String,
        /// What it did before, and where.
        before: String,
        /// What it did now, and where.
        now: String,
    },
    /// A setting has a value that is not understood.
    Setting {
        /// Name of the setting.
        name: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// A schedule token cannot be replayed.
    Token {
        /// Why.
        problem: String,
    },
    /// An object that executions share was used inside one.
    Outside {
        /// What kind of object.
        object: String,
        /// Where it was used.
        site: String,
    },
    /// The program stopped making operations that can be seen.
    Hang {
        /// The thread that ran last.
        thread: String,
        /// The last place that was seen.
        site: String,
        /// For how long.
        seconds: u64,
    },
    /// An operation was used where it cannot be.
    Misuse {
        /// What was used, where, and what to do instead.
        problem: String,
    },
    /// The machine refused something.
    Machine {
        /// What, and what to do.
        problem: String,
    },
}

impl Error {
    /// Whether an execution could not be repeated: threads may share what is not seen.
    pub fn is_lost(&self) -> bool {
        matches!(self, Error::Diverged { .. } | Error::Token { .. })
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Diverged { thread, before, now } => write!(
                f,
                "the program is not deterministic: under one and the same schedule, {thread} once did \
                 `{before}` and then `{now}`; look for atomics, locks and counts of `std` that threads share, \
                 clocks of `std::time` (use `unpick::time`), random numbers, addresses used as data, hash-map order, or state that outlives one run of \
                 the closure"
            ),
            Error::Setting { name, problem } => write!(f, "setting `{name}`: {problem}"),
            Error::Token { problem } => write!(f, "the schedule cannot be replayed: {problem}"),
            Error::Outside { object, site } => write!(
                f,
                "the `{object}` used at {site} was created outside the checked closure, so all executions share \
                 it; create it inside the closure, or make it a `static`"
            ),
            Error::Hang { thread, site, seconds } => write!(
                f,
                "{thread} has done nothing visible for {seconds} s; it was last seen at {site}; it may wait for \
                 a lock or channel that is not unpick's, or loop without an atomic operation: use unpick's \
                 types there, or raise the hang limit"
            ),
            Error::Misuse { problem } => write!(f, "{problem}"),
            Error::Machine { problem } => write!(f, "{problem}"),
        }
    }
}
