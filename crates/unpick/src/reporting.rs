//! From a violation to what is told about it.
//!
//! The part of the graph that the violation rests on is put in an order with few changes of
//! thread, run once more in that order to see that it fails again, and a second time to keep the
//! call stacks. What the report shows is that run.

mod calls;
mod memory;
mod tasks;
mod trace;

use std::path::PathBuf;

use unpick_check::{Config, Error, Summary, Verdict, Violated, strategies};
use unpick_core::schedule::Schedule;
use unpick_core::trace::Finding;
use unpick_core::violation::Violation;
use unpick_driver::witness::{Found, retrace};
use unpick_runtime::Program;

use crate::api;
use crate::files;
use crate::replay;

/// Tokens up to this length are printed; longer ones go into a file.
const LONGEST_TOKEN: usize = 120;

/// Tells the violations that were found.
pub(crate) fn report_all(
    config: &Config,
    program: &Program,
    found: &[Found],
    summary: Summary,
    fatal: bool,
) -> Result<Verdict, Error> {
    let mut told = found.iter().map(|found| report(config, program, found)).collect::<Result<Vec<_>, _>>()?;
    if fatal {
        let findings: Vec<&Finding> = told.iter().map(|(finding, _)| finding).collect();
        api::end_process(&findings);
    }
    let (finding, saved) = told.remove(0);
    let violated = Violated::new(finding, summary, saved).with_more(told);
    Ok(Verdict::Violated(Box::new(violated)))
}

/// Tells a violation that was found, and where the report was saved.
fn report(config: &Config, program: &Program, found: &Found) -> Result<(Finding, Option<PathBuf>), Error> {
    let Found { violation, witness, number } = found;
    witness.tell(|schedule, exact| report_schedule(config, program, violation, schedule, exact, *number))
}

/// Tells the violation at the end of a schedule; if it is a panic and `exact`, no other one.
pub(crate) fn report_schedule(
    config: &Config,
    program: &Program,
    violation: &Violation,
    schedule: &Schedule,
    exact: bool,
    number: u64,
) -> Result<(Finding, Option<PathBuf>), Error> {
    let lost = || Error::Token {
        problem: format!(
            "an execution with a {} was found, but running it again did not show it; the program may not be \
             deterministic: look for atomics, locks and counts of `std` that threads share, clocks of `std::time`, random numbers, \
             hash-map order, or state that outlives one run",
            violation.title()
        ),
    };
    let follow = |wanted| replay::run(config, program, schedule, wanted);
    let (explored, told) = retrace(violation, exact, follow)?.ok_or_else(lost)?;
    let token = schedule.to_string();
    let (trace, message, place) = trace::FailingRun::new(&explored, &told).report();
    let mut finding = Finding {
        title: told.title().to_string(),
        message,
        line: place.as_ref().and_then(unpick_report::source::line),
        place,
        trace,
        token: token.clone(),
        model: config.model.clone(),
        strategy: strategies::title(config),
        execution: number,
    };
    let name =
        files::report_name(&format!("{}-{:08x}", finding.title.replace(' ', "-"), schedule.fingerprint));
    let file =
        (token.len() > LONGEST_TOKEN).then(|| files::save(&format!("{name}.schedule"), &token)).flatten();
    if let Some(path) = file {
        finding.token = path.display().to_string();
    }
    let saved = files::save(&format!("{name}.json"), &format!("{:#}\n", unpick_report::json(&finding)));
    Ok((finding, saved))
}
