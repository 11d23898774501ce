//! The table of the bench: what is known of each bug, and what the search for all executions did.

use std::time::Duration;

use unpick::{Error, Verdict};

use crate::{Bug, Variant};

/// Executions that are spent on a form of which no end is known.
pub const OPEN_BUDGET: u64 = 20_000;

/// Time after which a check of the bench gives up, whatever its budget.
pub const TIME: Duration = Duration::from_secs(60);

/// What the search for all executions says of both forms of a program.
#[derive(Debug)]
pub struct Measured {
    /// Of the form with the bug.
    pub buggy: Verdict,
    /// Of the form without.
    pub fixed: Verdict,
}

/// Runs both forms of a program with the strategy `optimal`, within its budgets.
///
/// # Errors
///
/// When a check could not be carried out.
pub fn measure(bug: &Bug) -> Result<Measured, Error> {
    let program = bug.program;
    let check = bug.check().strategy("optimal").time_limit(TIME);
    let limited = |executions: u64| check.clone().max_executions(executions);
    let buggy = limited(bug.found_within.unwrap_or(OPEN_BUDGET)).run(move || program(Variant::Buggy))?;
    let fixed = if bug.exhaustible { check } else { limited(OPEN_BUDGET) };
    Ok(Measured { buggy, fixed: fixed.run(move || program(Variant::Fixed))? })
}

/// The first two lines of the table.
pub const HEAD: &str = "\
| name | after | bug | memory | threads | preemptions | violation | fixed form | found after |
|---|---|---|---|---|---|---|---|---|
";

/// The line of a bug, up to its last two columns.
pub fn row(bug: &Bug) -> String {
    let preemptions = bug.preemptions.map_or_else(|| String::from("-"), |count| count.to_string());
    let Bug { name, after, bug: wrong, threads, violation, .. } = bug;
    let memory = bug.memory.name();
    format!("| `{name}` | {after} | {wrong} | {memory} | {threads} | {preemptions} | {violation} |")
}

/// The column on the fixed form.
pub fn fixed(measured: &Measured) -> String {
    match &measured.fixed {
        Verdict::Holds(summary) => format!(" holds, {} |", summary.statistics.executions),
        _ => String::from(" open |"),
    }
}

/// The last column of the line of a bug: executions until it was found; or those that were spent, with
/// the blocked ones.
pub fn found(measured: &Measured) -> String {
    let stats = measured.buggy.stats();
    match measured.buggy {
        Verdict::Violated(_) => format!(" {} |", stats.executions),
        _ => format!(" not in {} |", stats.executions + stats.blocked),
    }
}
