//! Loops that wait: programs that show whether they are recognised rightly.
//!
//! - [`false_holds`]: a corpus of programs with the verdict that is right for each.

pub(crate) mod builds;
pub(crate) mod false_holds;
pub(crate) mod verdict;
