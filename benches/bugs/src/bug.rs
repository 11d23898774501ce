//! What is known of a program of the bench: plain data.

use unpick::Check;

use crate::FILES;

/// Which form of a program is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The one with the bug.
    Buggy,
    /// The one without.
    Fixed,
}

impl Variant {
    /// Whether this is the form without the bug.
    pub(crate) fn is_fixed(self) -> bool {
        self == Variant::Fixed
    }
}

/// The weakest assumption on memory under which a bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// It shows where threads take turns: under sequential consistency, and so under every model.
    Sc,
    /// It takes weak memory: under sequential consistency the program is right.
    Weak,
}

impl Memory {
    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Memory::Sc => "SC",
            Memory::Weak => "weak",
        }
    }
}

/// A program with a bug, and the same program without.
///
/// The programs are deterministic, make all objects that they use, and are to be run inside a check
/// only: outside one a buggy form with a data race would have undefined behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// The name of the file that has the program; with a suffix if there are several sizes in it.
    pub name: &'static str,
    /// The publication or program that it was written after.
    pub after: &'static str,
    /// What is wrong, in a few words.
    pub bug: &'static str,
    /// Whether the bug needs weak memory.
    pub memory: Memory,
    /// Threads that work at the same time; the main thread counts if it is one of them.
    pub threads: usize,
    /// With how many preemptions the bug is known to show under sequential consistency, where a thread
    /// that waits or has ended is not preempted. Nothing is said of bugs that need weak memory.
    pub preemptions: Option<usize>,
    /// The title of the violation that the search for all executions reports first.
    pub violation: &'static str,
    /// The program. Run it inside a check.
    pub program: fn(Variant),
    /// What its checks need beside the default settings.
    pub settings: fn(Check) -> Check,
    /// Executions within which the search for all executions finds the bug; nothing if it was not seen
    /// to find it.
    pub found_within: Option<u64>,
    /// Whether the search for all executions finishes the fixed form in a few seconds.
    pub exhaustible: bool,
}

impl Bug {
    /// The name of the file that has the program: its name, or the start of it.
    pub fn family(&self) -> &'static str {
        let files = FILES.iter().filter(|file| self.name.starts_with(**file));
        files.max_by_key(|file| file.len()).unwrap_or(&self.name)
    }

    /// The settings of a check of this program.
    pub fn check(&self) -> Check {
        (self.settings)(Check::new())
    }
}

/// No settings beside the default ones.
pub(crate) fn defaults(check: Check) -> Check {
    check
}
