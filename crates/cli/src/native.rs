//! Checks of C and C++ programs: starts the program, whose runtime explores, and tells what it says.
//!
//! The program gets the socket for messages as its standard input, which would not be the same in each execution anyway.

mod naming;
mod suppressions;

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use unpick_check::Config;
use unpick_check::meter::Meter;
use unpick_core::plan::Outlook;
use unpick_core::strategy::Estimate;
use unpick_core::trace::Finding;
use unpick_native_wire::{
    self as wire, Answer, CHANNEL, DEBUGGER, Ending, Message, Output, Progress, VERSION,
};
use unpick_report::TextOptions;
use unpick_runtime::interrupt;

use crate::Exit;
use crate::error::Error;
use crate::run::say;
use naming::Naming;
use suppressions::Suppressions;

/// What a kept report calls the command that runs the execution again.
pub(crate) const REPLAY: &str = "replay";

/// Variables of the environment that stand for settings.
type Variables<'a> = &'a [(&'static str, String)];

/// A program to be checked.
pub(crate) struct Check<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [OsString],
    /// Where reports are kept.
    pub(crate) reports: Option<&'a Path>,
}

impl Check<'_> {
    /// The words that start the program.
    fn words(&self) -> impl Iterator<Item = String> {
        let words = std::iter::once(self.program).chain(self.arguments.iter().map(OsString::as_os_str));
        words.map(|word| word.to_string_lossy().into_owned())
    }

    /// The command that runs the execution of a token again.
    fn replay(&self, token: &str, config: &Config) -> String {
        let words = self.words().map(|word| quoted(&word)).collect::<Vec<_>>();
        let known = config.suppressions.as_ref().map(|file| format!("--suppressions {} ", quoted(file)));
        format!("unpick replay {}{} {}", known.unwrap_or_default(), quoted(token), words.join(" "))
    }

    /// Keeps a report, if that was asked for.
    fn keep(&self, finding: &Finding, number: usize, config: &Config) -> Result<(), Error> {
        let Some(folder) = self.reports else { return Ok(()) };
        let mut report = unpick_report::json(finding);
        report["program"] = self.words().collect();
        report[REPLAY] = self.replay(&finding.token, config).into();
        let path = folder.join(format!("{number}-{}.json", finding.title.replace(' ', "-")));
        let kept =
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, format!("{report:#}\n")));
        kept.map_err(|problem| Error::NotKept { path, problem })
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    let plain = !word.is_empty() && word.chars().all(safe);
    if plain { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The token, or what is in the file that holds it.
pub(crate) fn token(given: &str) -> Result<String, Error> {
    let token = crate::cargo::token(given)?;
    if !token.contains('/') {
        return Ok(token);
    }
    let path = Path::new(&token);
    let text = std::fs::read_to_string(path);
    text.map_err(|problem| Error::Unreadable { path: path.to_path_buf(), problem })
}

/// Starts a debugger on the program, in the execution of a token.
pub(crate) fn debug(check: &Check<'_>, token: &str) -> Result<Exit, Error> {
    let mut command = Command::new("gdb");
    command.args(["--quiet", "--args"]).arg(check.program).args(check.arguments);
    command.env(CHANNEL, DEBUGGER).env("UNPICK_REPLAY", token).env("LD_BIND_NOW", "1");
    let listening = interrupt::listen();
    let status = command.status().map_err(Error::NoDebugger);
    drop(listening);
    status.map(|_| Exit::Holds)
}

/// Runs a program under all executions, or the one that a variable names.
pub(crate) fn run(check: &Check<'_>, variables: Variables<'_>) -> Result<Exit, Error> {
    let Check { program, arguments, .. } = *check;
    let given = |name: &str| {
        let own = variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        own.or_else(|| std::env::var(name).ok())
    };
    unpick_check::config::names_are_known()?;
    let config = Config::default().with_environment(given)?;
    unpick_check::registry::execution(&config)?;
    let known = config.suppressions.as_ref().map(|path| Suppressions::read(Path::new(path))).transpose()?;
    let (messages, channel) =
        UnixStream::pair().map_err(|problem| Error::NoProgram { program: program.into(), problem })?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(OwnedFd::from(channel)).env(CHANNEL, "0");
    // What is bound late would be bound again in each execution.
    command.env("LD_BIND_NOW", "1");
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let child = command.spawn().map_err(|problem| Error::NoProgram { program: program.into(), problem })?;
    // The socket ends when the program has ended, not when this process has.
    drop(command);
    // Ctrl-C reaches the program as well, which says how far it has come.
    let listening = interrupt::listen();
    let exit = listen(child, messages, &config, known, check);
    drop(listening);
    exit
}

/// Whether a word names a program, and not a test.
pub(crate) fn is_program(word: &OsStr) -> bool {
    let path = Path::new(word);
    path.components().count() > 1 && path.is_file()
}

/// Reads messages to their end, and tells what they say.
fn listen(
    mut child: Child,
    messages: UnixStream,
    config: &Config,
    mut known: Option<Suppressions>,
    check: &Check<'_>,
) -> Result<Exit, Error> {
    let mut meter = Meter::new(config);
    let mut naming = Naming::default();
    let mut report = String::new();
    let mut findings = 0;
    let mut ended = None;
    for line in BufReader::new(&messages).lines() {
        let line = line.map_err(|problem| Error::Messages { problem: problem.to_string() })?;
        let message =
            Message::read(&line).map_err(|problem| Error::Messages { problem: problem.to_string() })?;
        match message {
            Message::Started { version, modules } => {
                if version != VERSION {
                    let problem = format!("its runtime has version {version}, and {VERSION} is understood");
                    return Err(Error::Messages { problem });
                }
                naming = Naming::new(modules);
            }
            Message::Progress(progress) => show(&mut meter, &progress),
            Message::Violation(found) => {
                let wire::Found { finding, output } = *found;
                let finding = naming.finding(finding);
                findings += 1;
                check.keep(&finding, findings, config)?;
                report.push_str(&shown(&finding, &check.replay(&finding.token, config)));
                report.push_str(&told_output(&output));
            }
            Message::Ask(question) => {
                let answer = known.as_mut().map_or(Answer::New, |known| known.answer(&question, &naming));
                let sent = (&messages).write_all(answer.line().as_bytes());
                sent.map_err(|problem| Error::Messages { problem: problem.to_string() })?;
            }
            Message::Ended(verdict) => {
                let text = naming.resolved(&verdict.text, &[]);
                if !report.is_empty() {
                    report.push('\n');
                }
                report.push_str(&format!("{text}\n"));
                for warning in &verdict.warnings {
                    let name = naming.object(&warning.object);
                    report.push_str(&format!("warning: {}\n", naming.resolved(&warning.text, &[name])));
                }
                report.extend(known.iter().map(Suppressions::told));
                ended = Some(match verdict.ending {
                    Ending::Holds => Exit::Holds,
                    Ending::Violated => Exit::Violated,
                    Ending::Inconclusive => Exit::Inconclusive,
                });
            }
            Message::Failed { text } => {
                meter.clear();
                let _ = child.wait();
                return Err(Error::NotChecked(naming.resolved(&text, &[])));
            }
        }
    }
    meter.clear();
    let status = child.wait().map_err(|problem| Error::Messages { problem: problem.to_string() })?;
    let Some(exit) = ended else { return Err(Error::NoVerdict { status: status.to_string() }) };
    say(&report)?;
    Ok(exit)
}

fn show(meter: &mut Meter, progress: &Progress) {
    let estimate = progress.estimate.map(|(progress, total)| Estimate { progress, total, recursive: total });
    let outlook = Outlook {
        strategy: progress.strategy.clone(),
        bound: progress.bound,
        explored: progress.explored,
        explored_traces: progress.explored_traces,
        estimate,
        sampled: progress.sampled,
        pairs: progress.pairs,
        restarts: progress.restarts,
        ..Outlook::default()
    };
    meter.show((progress.executions, progress.blocked), &outlook, Duration::from_millis(progress.elapsed));
}

/// A report of a program; `replay`: the command that runs the execution again.
pub(crate) fn shown(finding: &Finding, replay: &str) -> String {
    let text = unpick_report::text(finding, &TextOptions::of_terminal());
    // The last line is for tests of Rust.
    let text = text.trim_end().rsplit_once('\n').map_or(text.as_str(), |(text, _)| text);
    format!("{text}\nreplay: {}\n", printable_text(replay))
}

/// What the failing execution wrote.
fn told_output(output: &Output) -> String {
    let mut told = String::new();
    for (name, text) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        if text.is_empty() {
            continue;
        }
        told.push_str(&format!("\n{name} of the failing execution:\n"));
        for line in text.lines() {
            let line = printable_text(line);
            told.push_str(&format!("  {line}\n"));
        }
    }
    told
}

/// A text, with control characters escaped.
fn printable_text(text: &str) -> String {
    text.chars().flat_map(printable).collect()
}

/// A character, with control characters escaped.
fn printable(character: char) -> Vec<char> {
    if character.is_control() && character != '\t' {
        character.escape_default().collect()
    } else {
        vec![character]
    }
}
