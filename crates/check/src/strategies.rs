//! The strategies that users can choose, by name: one line each.

use unpick_core::error::Error;
use unpick_core::strategy::Strategy;
use unpick_strategies::in_order::InOrder;
use unpick_strategies::optimal::Optimal;
use unpick_strategies::research::trace::{Method, Trace};
use unpick_strategies::sample::names as sample;

use crate::config::Config;

/// What can follow a name, after a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Nothing.
    None,
    /// A whole number that is not below `least`, or nothing.
    Number {
        /// What it is.
        what: &'static str,
        /// The smallest that makes sense.
        least: u32,
    },
}

/// A strategy that users can choose.
#[derive(Clone, Copy)]
pub struct StrategyInfo {
    /// Its name.
    pub name: &'static str,
    /// What can follow the name.
    pub parameter: Parameter,
    /// What it does.
    pub meaning: &'static str,
    make: fn(&Config, Option<u32>) -> Box<dyn Strategy>,
}

/// The parameter of strategies that count preemptions.
const PREEMPTIONS: Parameter = Parameter::Number {
    what: "preemptions at most; without it none, one, two, ... until nothing is left out",
    least: 0,
};

/// The parameter of priorities that change.
const DEPTH: Parameter = Parameter::Number {
    what: "at so many points less one priorities change; without it any number",
    least: 1,
};

/// The name of the default, which is more than a strategy: see [`Auto`](crate::auto::Auto).
pub const AUTO: &str = "auto";

/// The strategies that users need, the default first. `docs/strategies.md` says why these.
pub const STRATEGIES: [StrategyInfo; 5] = [
    StrategyInfo {
        name: AUTO,
        parameter: Parameter::None,
        meaning: "every execution if the time allows; else those with few preemptions, and samples; the default",
        make: optimal,
    },
    StrategyInfo {
        name: "optimal",
        parameter: Parameter::None,
        meaning: "every execution of the memory model, each once",
        make: optimal,
    },
    StrategyInfo {
        name: "in-order",
        parameter: PREEMPTIONS,
        meaning: "executions by the number of preemptions; everything except loads takes effect in program order",
        make: in_order,
    },
    StrategyInfo {
        name: "pct",
        parameter: DEPTH,
        meaning: "samples: priorities that change at depth - 1 points; any depth unless given",
        make: |config, depth| sample::pct(depth, sampling(config)),
    },
    StrategyInfo {
        name: "random",
        parameter: Parameter::None,
        meaning: "samples: any thread at each step",
        make: |config, _| sample::random(sampling(config)),
    },
];

/// The strategies for research: to compare with, and for [`Auto`](crate::auto::Auto) to draw on.
pub const RESEARCH: [StrategyInfo; 14] = [
    StrategyInfo {
        name: "source-dpor",
        parameter: Parameter::None,
        meaning: "every sequentially consistent execution, hardly any twice",
        make: |config, bound| trace(Method::SourceDpor, config, bound),
    },
    StrategyInfo {
        name: "dpor",
        parameter: Parameter::None,
        meaning: "the same, with persistent sets; many are run more than once",
        make: |config, bound| trace(Method::Dpor, config, bound),
    },
    StrategyInfo {
        name: "dpor-cr",
        parameter: Parameter::None,
        meaning: "the same, where two reads do not conflict",
        make: |config, bound| trace(Method::DporCr, config, bound),
    },
    StrategyInfo {
        name: "dpor-sleep",
        parameter: Parameter::None,
        meaning: "the same, with sleep sets",
        make: |config, bound| trace(Method::DporSleep, config, bound),
    },
    StrategyInfo {
        name: "cb-dpor",
        parameter: PREEMPTIONS,
        meaning: "sequentially consistent executions by the number of preemptions, few of them twice",
        make: |config, bound| trace(Method::CbDpor, config, bound),
    },
    StrategyInfo {
        name: "cb-dpor-nosleep",
        parameter: PREEMPTIONS,
        meaning: "the same without sleep sets",
        make: |config, bound| trace(Method::CbDporNosleep, config, bound),
    },
    StrategyInfo {
        name: "icb",
        parameter: PREEMPTIONS,
        meaning: "the same, with persistent sets and conservative points",
        make: |config, bound| trace(Method::Icb, config, bound),
    },
    StrategyInfo {
        name: "chess",
        parameter: PREEMPTIONS,
        meaning: "every order of steps by the number of preemptions",
        make: |config, bound| trace(Method::Chess, config, bound),
    },
    StrategyInfo {
        name: "chess-atomic",
        parameter: PREEMPTIONS,
        meaning: "the same, with preemptions only before read-modify-writes and lock operations",
        make: |config, bound| trace(Method::ChessAtomic, config, bound),
    },
    StrategyInfo {
        name: "urw",
        parameter: Parameter::None,
        meaning: "samples: threads by how much they have left to do",
        make: |config, _| sample::urw(sampling(config)),
    },
    StrategyInfo {
        name: "surw",
        parameter: Parameter::None,
        meaning: "samples: threads by how many accesses to one shared location they have left",
        make: |config, _| sample::surw(sampling(config)),
    },
    StrategyInfo {
        name: "pos",
        parameter: Parameter::None,
        meaning: "samples: priorities of accesses, drawn anew when accesses race",
        make: |config, _| sample::pos(sampling(config)),
    },
    StrategyInfo {
        name: "greybox",
        parameter: Parameter::None,
        meaning: "samples: a fuzzer guided by which reads see which writes",
        make: |config, _| sample::greybox(sampling(config)),
    },
    StrategyInfo {
        name: "digest",
        parameter: Parameter::None,
        meaning: "samples: decisions that lead to weak behaviour not seen yet",
        make: |config, _| sample::digest(sampling(config)),
    },
];

fn in_order(config: &Config, bound: Option<u32>) -> Box<dyn Strategy> {
    let in_order = InOrder::new(bound.or(config.preemption_bound), config.spurious_failures);
    Box::new(if config.keeps_order { in_order.keeping_order() } else { in_order })
}

fn optimal(config: &Config, _: Option<u32>) -> Box<dyn Strategy> {
    let optimal = Optimal::new(config.spurious_failures);
    Box::new(match config.preemption_bound {
        Some(preemptions) => optimal.with_preemption_bound(preemptions),
        None => optimal,
    })
}

/// What samplers need of the settings.
fn sampling(config: &Config) -> sample::Settings {
    sample::Settings { seed: config.seed, spurious: config.spurious_failures }
}

fn trace(method: Method, config: &Config, bound: Option<u32>) -> Box<dyn Strategy> {
    let bound = bound.or(config.preemption_bound).filter(|_| method.is_bounded());
    Box::new(Trace::new(method, bound, config.spurious_failures))
}

/// The strategy that the settings ask for.
///
/// # Errors
///
/// When there is none with the name, or what follows the name is not understood.
pub fn strategy(config: &Config) -> Result<Box<dyn Strategy>, Error> {
    let wrong = |problem: String| Error::Setting { name: String::from("strategy"), problem };
    let text = config.strategy.as_str();
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let Some(known) = STRATEGIES.iter().chain(&RESEARCH).find(|known| known.name == name) else {
        let names =
            |group: &[StrategyInfo]| group.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
        let (usual, research) = (names(&STRATEGIES), names(&RESEARCH));
        return Err(wrong(format!(
            "there is no strategy `{name}`; there are {usual}; for research, {research}"
        )));
    };
    let unbounded = Method::ALL.iter().any(|method| method.name() == name && !method.is_bounded());
    if unbounded && config.preemption_bound.is_some() {
        return Err(wrong(format!("`{name}` does not count preemptions; leave the bound on them out")));
    }
    let number = match (known.parameter, parameter) {
        (_, None) => None,
        (Parameter::None, Some(_)) => {
            return Err(wrong(format!("`{name}` takes no parameter; write `{name}` alone")));
        }
        (Parameter::Number { what, least }, Some(digits)) => {
            let parsed = digits.parse().ok().filter(|&number| number >= least);
            let problem = || wrong(format!("`{text}`: after `{name}:` comes a whole number, {what}"));
            Some(parsed.ok_or_else(problem)?)
        }
    };
    Ok((known.make)(config, number))
}

/// Whether the strategy can repeat what it has recorded in the order in which it took effect, and does not yet.
pub fn may_keep_order(config: &Config) -> bool {
    let keeping = Config { keeps_order: true, ..config.clone() };
    !config.keeps_order && strategy(&keeping).is_ok_and(|strategy| strategy.keeps_order())
}

/// The strategy of a check, as a report names it.
pub fn title(config: &Config) -> String {
    match strategy(config) {
        Ok(strategy) if strategy.samples() => format!("{} with seed {}", config.strategy, config.seed),
        _ => config.strategy.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<Box<dyn Strategy>, Error> {
        strategy(&Config { strategy: name.to_string(), ..Config::default() })
    }

    #[test]
    fn every_strategy_is_made_by_its_name() {
        for known in STRATEGIES.iter().chain(&RESEARCH) {
            let first = if known.name == AUTO { "optimal" } else { known.name };
            assert_eq!(named(known.name).map(|made| made.name()).ok(), Some(first));
            let bounded = named(&format!("{}:2", known.name));
            match known.parameter {
                Parameter::None => assert!(bounded.is_err(), "{}", known.name),
                PREEMPTIONS => {
                    let made = bounded.expect("a strategy with a bound");
                    let of_graphs = made.preemption_bound().map(|bound| bound.preemptions);
                    let bound = made.traces().and_then(|traces| traces.bound).or(of_graphs);
                    assert_eq!(bound, Some(2), "{}", known.name);
                }
                Parameter::Number { .. } => assert!(bounded.is_ok(), "{}", known.name),
            }
        }
        assert!(Method::ALL.iter().all(|method| named(method.name()).is_ok()));
    }

    #[test]
    fn a_bound_on_preemptions_is_for_those_that_count_them() {
        let bounded = |strategy: &str| {
            let config =
                Config { preemption_bound: Some(1), strategy: strategy.to_string(), ..Config::default() };
            super::strategy(&config).map(|made| made.traces().and_then(|traces| traces.bound))
        };
        assert_eq!(bounded("cb-dpor").ok(), Some(Some(1)));
        assert_eq!(bounded("cb-dpor:2").ok(), Some(Some(2)));
        assert!(bounded("dpor").is_err() && bounded("optimal").is_ok());
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (name, message) in [
            ("dfs", "there is no strategy `dfs`"),
            ("cb-dpor:few", "comes a whole number"),
            ("cb-dpor:-1", "comes a whole number"),
            ("dpor:2", "takes no parameter"),
            ("pct:0", "comes a whole number"),
        ] {
            let error = named(name).map(|_| ()).expect_err(name).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
