//! Names and what they stand for.

use unpick_core::error::Error;
use unpick_core::execution::Execution;
use unpick_core::graph::Graph;
use unpick_core::memory::MemoryModel;
use unpick_core::schedule::Schedule;
use unpick_core::strategy::Strategy;
use unpick_strategies::optimal::Optimal;
use unpick_strategies::replay::Replay;
use unpick_strategies::sample::names as sample;

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

/// A strategy that can be chosen by its name.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What may follow the name and a colon, if anything.
    pub parameter: Option<&'static str>,
    /// What it does, in a line.
    pub about: &'static str,
    make: fn(&Config, Option<u32>) -> Box<dyn Strategy>,
}

/// All strategies, the default first.
pub const STRATEGIES: &[Entry] = &[
    Entry {
        name: "optimal",
        parameter: None,
        about: "every consistent execution graph once; the default",
        make: |config, _| Box::new(Optimal::new(config.spurious_failures)),
    },
    Entry {
        name: "random",
        parameter: None,
        about: "samples: any thread at each step",
        make: |config, _| sample::random(sampling(config)),
    },
    Entry {
        name: "urw",
        parameter: None,
        about: "samples: threads by how much they have left to do",
        make: |config, _| sample::urw(sampling(config)),
    },
    Entry {
        name: "surw",
        parameter: None,
        about: "samples: threads by how many accesses to one shared location they have left",
        make: |config, _| sample::surw(sampling(config)),
    },
    Entry {
        name: "pct",
        parameter: Some("depth"),
        about: "samples: priorities that change at depth - 1 points; any depth unless given",
        make: |config, depth| sample::pct(depth, sampling(config)),
    },
    Entry {
        name: "pos",
        parameter: None,
        about: "samples: priorities of accesses, drawn anew when accesses race",
        make: |config, _| sample::pos(sampling(config)),
    },
    Entry {
        name: "greybox",
        parameter: None,
        about: "samples: a fuzzer guided by which reads see which writes",
        make: |config, _| sample::greybox(sampling(config)),
    },
    Entry {
        name: "digest",
        parameter: None,
        about: "samples: decisions that lead to weak behaviour not seen yet",
        make: |config, _| sample::digest(sampling(config)),
    },
];

/// What samplers need of the settings.
fn sampling(config: &Config) -> sample::Settings {
    sample::Settings { seed: config.seed, spurious: config.spurious_failures }
}

/// The strategy that the settings ask for.
///
/// # Errors
///
/// When there is none of that name, or its parameter is not understood.
pub fn strategy(config: &Config) -> Result<Box<dyn Strategy>, Error> {
    let wrong = |problem: String| Error::Setting { name: String::from("strategy"), problem };
    let (name, parameter) = match config.strategy.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (config.strategy.as_str(), None),
    };
    let entry = STRATEGIES.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = STRATEGIES.iter().map(|entry| entry.name).collect();
        wrong(format!("there is no strategy `{name}`; there are {}", names.join(", ")))
    })?;
    let parameter = match (parameter, entry.parameter) {
        (None, _) => None,
        (Some(text), None) => {
            return Err(wrong(format!("`{name}` takes no parameter, but `{text}` was given")));
        }
        (Some(text), Some(what)) => {
            let number = text.parse().ok().filter(|&number: &u32| number > 0);
            Some(number.ok_or_else(|| wrong(format!("`{text}` is no {what} for `{name}`")))?)
        }
    };
    Ok((entry.make)(config, parameter))
}

/// Events of one execution at most, for strategies that explore all executions.
const MOST_EVENTS: usize = 10_000;

/// Events of one execution at most, for samplers.
const MOST_SAMPLED_EVENTS: usize = 100_000_000;

/// An execution with nothing explored.
///
/// # Errors
///
/// When a setting names something that does not exist.
pub fn execution(config: &Config) -> Result<Execution, Error> {
    let strategy = strategy(config)?;
    let usual = if strategy.samples() { MOST_SAMPLED_EVENTS } else { MOST_EVENTS };
    Ok(Execution::new(model(&config.model)?, strategy, config.max_events.unwrap_or(usual)))
}

/// The number by which a schedule names a memory model.
pub fn number_of(model: &str) -> u8 {
    unpick_models::NAMES.iter().position(|&name| name == model).unwrap_or(0) as u8
}

/// The memory model that a schedule names.
pub fn model_of(number: u8) -> Option<String> {
    unpick_models::NAMES.get(number as usize).map(|name| name.to_string())
}

/// The strategy that follows a schedule.
pub fn replay(schedule: Schedule) -> Box<dyn Strategy> {
    Box::new(Replay::new(schedule))
}

/// Whether a graph that was made by following a schedule is of the program it was made for.
pub fn fits(schedule: &Schedule, graph: &Graph) -> bool {
    unpick_strategies::replay::fits(schedule, graph)
}
