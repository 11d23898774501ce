//! `cargo test`, with settings for the checks in it.
//!
//! Settings travel as variables of the environment. They are looked at here first, so that a
//! mistake shows once, before anything is built, and not once in every test.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use unpick_check::{Config, registry};
use unpick_runtime::interrupt;

use crate::Exit;
use crate::args::{Detached, Inconclusive, Isolation, Replay, Settings, Switch, Test};
use crate::error::Error;

type Variables = Vec<(&'static str, String)>;

/// Runs `cargo test` with the settings.
pub(crate) fn test(test: &Test) -> Result<Exit, Error> {
    let variables = variables(&test.settings);
    let given = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone());
    unpick_check::config::names_are_known()?;
    let config = Config::default().with_environment(given)?;
    registry::execution(&config)?;
    run(&test.cargo, &variables)
}

/// Runs `cargo test` with one execution for each check.
pub(crate) fn replay(replay: &Replay) -> Result<Exit, Error> {
    run(&replay.arguments, &[("UNPICK_REPLAY", token(&replay.token)?)])
}

/// The token, or the whole path of the file that holds it.
pub(crate) fn token(given: &str) -> Result<String, Error> {
    let mut token = given.trim().trim_start_matches("UNPICK_REPLAY=").to_string();
    if token.is_empty() {
        let problem = String::from("the token is empty; copy it from the last line of a report");
        return Err(unpick_check::Error::Token { problem }.into());
    }
    // Tokens have none of these characters. Tests run in the folders of their packages, so a
    // relative path would lead nowhere.
    if token.contains(['/', '\\', '.']) {
        let path = Path::new(&token);
        let whole =
            path.canonicalize().map_err(|problem| Error::Unreadable { path: path.to_path_buf(), problem })?;
        token = whole.display().to_string();
    }
    Ok(token)
}

/// The cargo to call: the one that called us, if one did.
pub(crate) fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"))
}

/// The variables that stand for the settings.
pub(crate) fn variables(settings: &Settings) -> Variables {
    let Settings { model, strategy, time, max_executions, max_events, stack_size, .. } = settings;
    let Settings { spurious, inconclusive, keep_going, detached, preemptions, reuse, isolation, .. } =
        settings;
    let inconclusive = inconclusive.map(|what| match what {
        Inconclusive::Pass => String::from("pass"),
        Inconclusive::Fail => String::from("fail"),
    });
    let detached = detached.map(|what| match what {
        Detached::MustEnd => String::from("must-end"),
        Detached::Abandoned => String::from("abandoned"),
    });
    let isolation = isolation.map(|how| match how {
        Isolation::Auto => String::from("auto"),
        Isolation::Restore => String::from("restore"),
        Isolation::Fork => String::from("fork"),
    });
    let loops = settings.loops.map(|whether| match whether {
        Switch::On => String::from("on"),
        Switch::Off => String::from("off"),
    });
    let all = [
        ("UNPICK_MODEL", model.clone()),
        ("UNPICK_STRATEGY", strategy.clone()),
        ("UNPICK_TIME", time.clone()),
        ("UNPICK_MAX_EXECUTIONS", max_executions.clone()),
        ("UNPICK_PREEMPTIONS", preemptions.clone()),
        ("UNPICK_MAX_EVENTS", max_events.clone()),
        ("UNPICK_STACK_SIZE", stack_size.clone()),
        ("UNPICK_SPURIOUS", spurious.then(|| String::from("1"))),
        ("UNPICK_LOOPS", loops),
        ("UNPICK_INCONCLUSIVE", inconclusive),
        ("UNPICK_KEEP_GOING", keep_going.clone()),
        ("UNPICK_DETACHED", detached),
        ("UNPICK_REUSE", reuse.then(|| String::from("1"))),
        ("UNPICK_ISOLATION", isolation),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Runs a command to its end. After Ctrl-C, which it hears as well, this process goes on.
pub(crate) fn uninterrupted(command: &mut Command) -> Result<ExitStatus, Error> {
    interrupt::adopt_orphans();
    let listening = interrupt::listen();
    let status = command.status().map_err(Error::NoCargo);
    drop(listening);
    status
}

/// How a command ends that was interrupted: cargo has gone, but what it ran says how far it came.
pub(crate) fn after_interrupt() -> Exit {
    let violated = interrupt::wait_for_children().contains(&i32::from(Exit::Violated.code()));
    if violated { Exit::Violated } else { Exit::Inconclusive }
}

fn run(arguments: &[OsString], variables: &[(&'static str, String)]) -> Result<Exit, Error> {
    let test = |more: &[&str]| {
        let mut command = Command::new(program());
        command.arg("test").args(more.iter().map(OsStr::new)).args(arguments);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command
    };
    let status = uninterrupted(&mut test(&[]))?;
    if interrupt::requested() {
        return Ok(after_interrupt());
    }
    if status.success() {
        return Ok(Exit::Holds);
    }
    // Cargo ends with the same code for a test that fails and for one that does not build. What
    // does not build the second time was no failed test; what went wrong has been printed.
    let mut build = test(&["--no-run", "--quiet"]);
    let builds = build.stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(Error::NoCargo)?;
    Ok(if builds.success() { Exit::Violated } else { Exit::Error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_a_variable_that_checks_look_at() {
        let text = Some(String::from("1"));
        let settings = Settings {
            model: text.clone(),
            strategy: text.clone(),
            time: text.clone(),
            max_executions: text.clone(),
            preemptions: text.clone(),
            max_events: text.clone(),
            stack_size: text.clone(),
            spurious: true,
            loops: Some(Switch::Off),
            inconclusive: Some(Inconclusive::Pass),
            keep_going: text,
            reuse: true,
            isolation: Some(Isolation::Fork),
            detached: Some(Detached::Abandoned),
        };
        let variables = variables(&settings);
        assert_eq!(variables.len(), 14);
        for (name, _) in variables {
            assert!(unpick_check::config::VARIABLES.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
