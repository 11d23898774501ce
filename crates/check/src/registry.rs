//! Names and what they stand for.

use unpick_core::error::Error;
use unpick_core::execution::Execution;
use unpick_core::memory::MemoryModel;
use unpick_core::plan::{Plan, Single};
use unpick_core::schedule::Schedule;
use unpick_core::timeouts::Timeouts;
use unpick_strategies::replay::Replay;

use crate::auto::Auto;
use crate::config::Config;
use crate::strategies::{self, AUTO};

/// The memory model with a name.
///
/// # Errors
///
/// When there is none.
pub fn model(name: &str) -> Result<Box<dyn MemoryModel>, Error> {
    unpick_models::by_name(name).ok_or_else(|| Error::Setting {
        name: String::from("model"),
        problem: format!("there is no memory model `{name}`; there are {}", unpick_models::NAMES.join(", ")),
    })
}

/// Events of one execution at most, for strategies that explore all executions.
pub(crate) const MOST_EVENTS: usize = 10_000;

/// Events before the first thread is started that do not count, unless the limit was set.
pub(crate) const MOST_ALONE: usize = 2_000_000;

/// Events of one execution at most, for samplers.
const MOST_SAMPLED_EVENTS: usize = 100_000_000;

/// An execution with nothing explored.
///
/// # Errors
///
/// When a setting names something that does not exist.
pub fn execution(config: &Config) -> Result<Execution, Error> {
    let strategy = strategies::strategy(config)?;
    if config.timeouts == Timeouts::Last && strategy.looks_ahead() && !strategy.samples() {
        let problem = format!(
            "`last` needs a strategy that sees whole executions, which `{}` does not; use `optimal` or one that \
             samples",
            config.strategy
        );
        return Err(Error::Setting { name: String::from("timeouts"), problem });
    }
    let usual = if strategy.samples() { MOST_SAMPLED_EVENTS } else { MOST_EVENTS };
    let mut execution = Execution::new(model(&config.model)?, strategy, config.max_events.unwrap_or(usual));
    if config.max_events.is_none() {
        execution.allow_alone(MOST_ALONE);
    }
    Ok(execution)
}

/// The plan that the settings ask for.
///
/// # Errors
///
/// When a setting names something that does not exist.
pub fn plan(config: &Config) -> Result<Box<dyn Plan>, Error> {
    let mut first = Some(execution(config)?);
    if config.strategy == AUTO && config.preemption_bound.is_none() {
        return Ok(Box::new(Auto::new(config)));
    }
    let settings = config.clone();
    let again = move || execution(&settings).expect("the settings were good before");
    let begin = move || first.take().unwrap_or_else(&again);
    Ok(Box::new(Single::new(begin)))
}

/// The number by which a schedule names a memory model.
pub fn number_of(model: &str) -> u8 {
    unpick_models::NAMES.iter().position(|&name| name == model).unwrap_or(0) as u8
}

/// The memory model that a schedule names.
///
/// # Errors
///
/// When this version does not know it.
pub fn model_of(schedule: &Schedule) -> Result<String, Error> {
    let name = unpick_models::NAMES.get(schedule.model as usize).map(|name| name.to_string());
    name.ok_or_else(|| Error::Token {
        problem: String::from("it names a memory model that this version does not know"),
    })
}

/// The execution of a schedule, under the memory model with a name.
///
/// # Errors
///
/// When there is no such model.
pub fn replay(name: &str, schedule: &Schedule) -> Result<Execution, Error> {
    Ok(Execution::new(model(name)?, Box::new(Replay::new(schedule.clone())), usize::MAX))
}

/// Whether an execution that has followed a schedule is of the program it was made for, and has come to its end.
pub fn fits(schedule: &Schedule, execution: &Execution) -> bool {
    unpick_strategies::replay::fits(schedule, execution)
}
