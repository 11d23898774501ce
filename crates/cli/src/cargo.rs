//! `cargo test`, with settings for the checks in it.
//!
//! Settings travel as variables of the environment. They are looked at here first, so that a
//! mistake shows once, before anything is built, and not once in every test.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use unpick_check::{Config, registry};
use unpick_runtime::interrupt;

use crate::args::{Replay, Test};
use crate::checks::Run;
use crate::error::Error;
use crate::{Exit, migrate};

/// Runs `cargo test` with the settings.
pub(crate) fn test(test: &Test) -> Result<Exit, Error> {
    let variables = &test.settings.0;
    let given = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone());
    unpick_check::config::names_are_known()?;
    let config = Config::default().with_environment(given)?;
    registry::execution(&config)?;
    let collected = Run::begin(&test.cargo)?;
    let exit = run(&test.cargo, variables, collected.as_ref())?;
    // Of what does not build, cargo has said all.
    collected.map_or(Ok(()), |run| run.end(exit != Exit::Error && runs_tests(&test.cargo)))?;
    for note in migrate::unchecked(&test.cargo) {
        // Who reads no notes needs no error either.
        let _ = writeln!(
            std::io::stderr(),
            "note: {note}: tests that use it do not run on unpick; `unpick migrate --check` says what to do"
        );
    }
    Ok(exit)
}

/// Whether `cargo test` runs tests with these arguments, and does not only build or list them.
fn runs_tests(arguments: &[OsString]) -> bool {
    !arguments.iter().any(|word| word == "--no-run" || word == "--list" || word == "--help")
}

/// Runs `cargo test` with one execution for each check.
pub(crate) fn replay(replay: &Replay) -> Result<Exit, Error> {
    run(&replay.arguments, &[("UNPICK_REPLAY", token(&replay.token)?)], None)
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

fn run(
    arguments: &[OsString],
    variables: &[(&'static str, String)],
    collected: Option<&Run>,
) -> Result<Exit, Error> {
    let test = |more: &[&str]| {
        let mut command = Command::new(program());
        command.arg("test").args(more.iter().map(OsStr::new));
        // Else the table ends with the first test program that fails.
        let own = arguments.split(|word| word == "--").next().unwrap_or_default();
        if collected.is_some() && !own.iter().any(|word| word == "--no-fail-fast") {
            command.arg("--no-fail-fast");
        }
        command.args(arguments);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.envs(collected.map(Run::variable));
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
