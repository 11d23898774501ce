//! One execution, from its schedule: to replay a report, and to tell about a violation.

use unpick_check::{Config, Error, Verdict, Violated, registry};
use unpick_core::plan::{Ending, Single};
use unpick_core::schedule::Schedule;
use unpick_core::violation::Violation;
use unpick_driver::witness::Wanted;
use unpick_runtime::record::Recorder;
use unpick_runtime::worker::Explored;
use unpick_runtime::{Program, worker};

use crate::api;
use crate::reporting;

/// What is said of a token whose execution is possible and shows nothing.
pub(crate) const MENDED: &str = "the execution was repeated and shows no violation any more; the program may be mended: \
                                 run the check again without UNPICK_REPLAY";

/// Runs the execution of a token, and says what it shows.
pub(crate) fn replay(config: &Config, token: &str, program: &Program) -> Result<Verdict, Error> {
    let schedule = read(token)?;
    let mut config = config.clone();
    config.model = registry::model_of(&schedule)?;
    let (explored, violation) = run(&config, program, &schedule, Wanted::default())?;
    if !registry::fits(&schedule, &explored.execution) {
        return Err(Error::Token {
            problem: String::from(
                "it belongs to another program, or the program has changed since; run the check again \
                 without UNPICK_REPLAY",
            ),
        });
    }
    let summary = api::summary(&config, &explored, false);
    match violation {
        Some(violation) => {
            let (finding, saved) =
                reporting::report_schedule(&config, program, &violation, &schedule, false, 1)?;
            if explored.fatal {
                api::end_process(&[&finding]);
            }
            Ok(Verdict::Violated(Box::new(Violated::new(finding, summary, saved))))
        }
        None => Err(Error::Token { problem: MENDED.to_string() }),
    }
}

/// The schedule of a token, or of the file that it names.
fn read(token: &str) -> Result<Schedule, Error> {
    let refused = |problem: String| Error::Token { problem };
    let token = token.trim();
    let text = if token.contains(['/', '\\', '.']) {
        std::fs::read_to_string(token)
            .map_err(|error| refused(format!("`{token}` cannot be read: {error}")))?
    } else {
        token.to_string()
    };
    text.trim().parse().map_err(|malformed| refused(format!("{malformed}")))
}

/// Runs the execution of a schedule, and keeps what is wanted.
pub(crate) fn run(
    config: &Config,
    program: &Program,
    schedule: &Schedule,
    wanted: Wanted,
) -> Result<(Explored, Option<Violation>), Error> {
    registry::model(&config.model)?;
    let (model, steps) = (config.model.clone(), schedule.clone());
    let fresh = move || registry::replay(&model, &steps).expect("the model was known before");
    let mut task = api::task(config, program, Box::new(Single::new(fresh)));
    task.known.clone_from(&schedule.known);
    task.budget.executions = None;
    task.budget.time = None;
    task.budget.violations = 1;
    task.limits.interrupts = false;
    task.recorder = Some(Recorder::new(wanted.points, wanted.block));
    let explored = worker::explore(task, &mut |_, _| {})?;
    let violation = match &explored.ending {
        Ending::Violated(violation) => Some(violation.clone()),
        _ => None,
    };
    Ok((explored, violation))
}
