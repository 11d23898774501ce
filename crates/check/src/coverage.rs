//! What a search under a bound on preemptions has covered.

use std::fmt;

use unpick_core::execution::Execution;

/// What a search that has come to its end under a bound on preemptions has covered: every execution
/// within the bound.
///
/// To deepen, search under 0, 1, 2, ... preemptions until a coverage [is total](Coverage::is_total).
/// Each bound is a search of its own, and its numbers contain those of the smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The bound.
    pub preemptions: u32,
    /// Executions within the bound in which all threads ended.
    pub complete: u64,
    /// Executions within the bound in which a thread could never go on.
    pub blocked: u64,
    /// Executions that were met beyond the bound, and were looked at as well.
    pub beyond: u64,
    /// Graphs that were not followed.
    pub left_out: u64,
}

impl Coverage {
    /// The coverage of a search that has come to its end, if it was under a bound on preemptions.
    pub fn of(execution: &Execution) -> Option<Coverage> {
        let bound = execution.strategy().preemption_bound()?;
        let stats = execution.stats();
        Some(Coverage {
            preemptions: bound.preemptions,
            complete: stats.complete,
            blocked: stats.blocked,
            beyond: stats.beyond,
            left_out: bound.left_out,
        })
    }

    /// Whether nothing was left out: the bound made no difference, and every execution was explored.
    pub fn is_total(&self) -> bool {
        self.left_out == 0
    }
}

/// A sentence.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_total() {
            return f.write_str("every execution was explored");
        }
        let plural = if self.preemptions == 1 { "" } else { "s" };
        write!(f, "every execution with at most {} preemption{plural} was explored", self.preemptions)?;
        match self.beyond {
            0 => Ok(()),
            1 => f.write_str(", and 1 with more"),
            beyond => write!(f, ", and {beyond} with more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_named_only_where_it_made_a_difference() {
        let coverage = Coverage { preemptions: 1, complete: 3, blocked: 0, beyond: 2, left_out: 4 };
        let text = "every execution with at most 1 preemption was explored, and 2 with more";
        assert_eq!(coverage.to_string(), text);
        let total = Coverage { left_out: 0, ..coverage };
        assert_eq!(total.to_string(), "every execution was explored");
    }
}
