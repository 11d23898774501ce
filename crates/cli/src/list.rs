//! Memory models, strategies and settings, with what they mean.

use std::fmt::Write;

use unpick_check::registry;
use unpick_check::strategies::{Parameter, RESEARCH, STRATEGIES};
use unpick_settings::SETTINGS;

use crate::error::Error;

/// The memory models, the default first.
const MODELS: [(&str, &str); 6] = [
    ("cpp20", "C++20 and so Rust, with the order of SeqCst operations of C++20; the default"),
    ("rc11", "RC11 as published in 2017, with the release sequences of C++20"),
    ("sc", "sequential consistency: every access is SeqCst; finds no weak-memory bugs"),
    ("tso", "total store order, the memory of x86: memory orders are ignored"),
    ("ra", "release and acquire: every access synchronises, SeqCst adds nothing"),
    ("rc11g", "RC11 as GenMC implements it: for comparing counts with GenMC"),
];

/// The memory models, and what a verdict under each rests on.
pub(crate) fn models() -> Result<String, Error> {
    let mut out = String::new();
    for (name, meaning) in MODELS {
        line(&mut out, name, 6, meaning);
        for assumption in registry::model(name)?.assumptions() {
            line(&mut out, "", 6, &format!("  assumes: {assumption}"));
        }
    }
    out.push_str("\nChoose one with Check::model, UNPICK_MODEL or `unpick test --model`.\n");
    Ok(out)
}

/// The strategies, the default first, those for research last.
pub(crate) fn strategies() -> String {
    let all = || STRATEGIES.iter().chain(&RESEARCH);
    let width = all().map(|known| known.name.len() + 2).max().unwrap_or(0);
    let mut out = String::new();
    for (title, group) in [("", &STRATEGIES[..]), ("\nFor research, to compare with:\n\n", &RESEARCH)] {
        out.push_str(title);
        for known in group {
            line(&mut out, known.name, width, known.meaning);
            if let Parameter::Number { what, .. } = known.parameter {
                line(&mut out, &format!("{}:N", known.name), width, what);
            }
        }
    }
    out.push_str("\nChoose one with Check::strategy, UNPICK_STRATEGY or `unpick test --strategy`.\n");
    out
}

/// The variables that checks look at, those for C and C++ only last.
pub(crate) fn settings() -> String {
    let width = SETTINGS.iter().map(|setting| setting.variable.len()).max().unwrap_or(0);
    let mut out = String::new();
    for in_rust in [true, false] {
        if !in_rust {
            out.push_str("\nFor C and C++ only:\n\n");
        }
        for setting in SETTINGS.iter().filter(|setting| setting.in_rust() == in_rust) {
            let value = format!("  {}; default: {}", setting.kind.wanted(), setting.usual());
            line(&mut out, setting.variable, width, setting.doc);
            line(&mut out, "", width, &value);
        }
    }
    out.push_str(
        "\nThey override what the program sets. `unpick test` and `unpick run` have flags of the same names.\n",
    );
    out
}

fn line(out: &mut String, name: &str, width: usize, meaning: &str) {
    writeln!(out, "{name:width$}  {meaning}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_listed() {
        let unknown = registry::model("?").err().map(|error| error.to_string()).unwrap_or_default();
        let (_, names) = unknown.split_once("there are ").expect("the message lists the models");
        let mut known: Vec<&str> = names.split(", ").collect();
        let mut listed: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
    }
}
