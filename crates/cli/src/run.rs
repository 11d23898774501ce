//! From arguments to an exit code.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command, Replay, Run};
use crate::cc::{self, Language};
use crate::error::Error;
use crate::{Exit, cargo, compare, demo, explain, list, migrate, native};

/// The whole program: reads the arguments of the process, and returns its exit code.
pub fn main() -> ExitCode {
    // Wrong arguments end the process here, with a message and code 2.
    let arguments = Arguments::parse_from(own(std::env::args_os().collect()));
    let ended = run(arguments.command.unwrap_or(Command::Demo));
    let exit = ended.unwrap_or_else(|error| {
        // Standard error that has gone away leaves nobody to tell.
        let _ = writeln!(std::io::stderr(), "error: {error}");
        Exit::Error
    });
    exit.into()
}

/// The arguments without the word that cargo adds: `cargo unpick x` runs `cargo-unpick unpick x`. A program that is
/// called as a compiler, `unpick-cc x`, is `unpick cc x`.
fn own(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let called = arguments.first().and_then(|name| Path::new(name).file_name());
    let compiler = match called.and_then(|name| name.to_str()) {
        Some("unpick-cc") => Some("cc"),
        Some("unpick-cxx" | "unpick-c++") => Some("c++"),
        _ => None,
    };
    if let Some(compiler) = compiler {
        arguments.insert(1, OsString::from(compiler));
    } else if arguments.get(1).is_some_and(|first| first == "unpick") {
        arguments.remove(1);
    }
    arguments
}

fn run(command: Command) -> Result<Exit, Error> {
    match command {
        Command::Demo => demo::demo(),
        Command::Test(test) => cargo::test(&test),
        Command::Run(run) => explore(&run),
        Command::Replay(replay) => replay_any(&replay),
        Command::Explain(asked) => say(&explain::explain(&asked)?),
        Command::Compare { options } => compare::compare(&options),
        Command::Migrate { folder, .. } => migrate::check(&folder),
        Command::Cc(compiler) => cc::run(Language::C, &compiler.arguments),
        Command::Cxx(compiler) => cc::run(Language::Cxx, &compiler.arguments),
        Command::Models => say(&list::models()?),
        Command::Strategies => say(&list::strategies()),
        Command::Settings => say(&list::settings()),
    }
}

/// Explores a program.
fn explore(run: &Run) -> Result<Exit, Error> {
    let check =
        native::Check { program: &run.program, arguments: &run.arguments, reports: run.reports.as_deref() };
    native::run(&check, &run.settings.0)
}

/// Runs the execution of a token: of a program, if one is named, and else of the tests of a package.
fn replay_any(replay: &Replay) -> Result<Exit, Error> {
    match replay.arguments.split_first() {
        Some((program, arguments)) if native::is_program(program) => {
            let check = native::Check { program, arguments, reports: None };
            let token = native::token(&replay.token)?;
            if replay.gdb {
                return native::debug(&check, &token);
            }
            let known = replay.suppressions.clone().map(|file| ("UNPICK_SUPPRESSIONS", file));
            let variables: Vec<_> = known.into_iter().chain([("UNPICK_REPLAY", token)]).collect();
            native::run(&check, &variables)
        }
        _ if replay.gdb => Err(Error::NothingToDebug),
        _ => cargo::replay(replay),
    }
}

/// Writes a text to standard output; a reader who has seen enough is no error.
pub(crate) fn say(text: &str) -> Result<Exit, Error> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => Err(Error::Unwritable(problem)),
        _ => Ok(Exit::Holds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_cargo_adds_is_taken_away() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(own(words("cargo-unpick unpick models")), words("cargo-unpick models"));
        assert_eq!(own(words("unpick models")), words("unpick models"));
        assert_eq!(own(words("unpick")), words("unpick"));
    }

    #[test]
    fn a_program_can_be_called_as_a_compiler() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(own(words("/usr/bin/unpick-cc unpick -c")), words("/usr/bin/unpick-cc cc unpick -c"));
        assert_eq!(own(words("unpick-c++ a.cc")), words("unpick-c++ c++ a.cc"));
    }
}
