//! Names and what they stand for.

use unpick_core::error::Error;
use unpick_core::execution::Execution;
use unpick_core::memory::MemoryModel;
use unpick_core::strategy::Strategy;
use unpick_strategies::optimal::Optimal;

use crate::config::Config;

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

/// The strategy that the settings ask for.
pub fn strategy(config: &Config) -> Box<dyn Strategy> {
    Box::new(Optimal::new(config.spurious_failures))
}

/// An execution with nothing explored.
///
/// # Errors
///
/// When a setting names something that does not exist.
pub fn execution(config: &Config) -> Result<Execution, Error> {
    Ok(Execution::new(model(&config.model)?, strategy(config), config.max_events))
}
