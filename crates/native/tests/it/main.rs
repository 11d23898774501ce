//! Programs in `tests/c`, compiled by the system's compiler and checked.
//!
//! Each says in its first lines what is expected of it, for the program with the bug (compiled with `-DBUG`), and for the
//! fixed one:
//!
//! ```text
//! // bug: data race                         the title of the violation
//! // fixed: 3 executions, 1 blocked         how many there are, and that the program holds
//! // settings: UNPICK_MODEL=sc              variables of the environment
//! // flags: -std=c++20                      for the compiler
//! // says: two accesses to                  what the report of the bug must contain
//! ```
//!
//! A line may be missing: a program may have no bug, or nothing but one.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use unpick_native_wire::{CHANNEL, Ending, Finding, Message, Verdict};

mod debugger;
mod isolation;
mod libraries;
mod ordinary;
mod programs;
mod strategies;

/// What a checked program has said.
struct Said {
    verdict: Option<Verdict>,
    finding: Option<Finding>,
    /// How many there were.
    findings: usize,
    /// Their titles.
    titles: Vec<String>,
    failed: Option<String>,
}

fn library() -> PathBuf {
    let own = std::env::current_exe().expect("the test has a path");
    own.parent().expect("it lies in a folder").to_path_buf()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

/// The flag for the headers that programs may use.
fn include() -> String {
    format!("-I{}", Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/include").display())
}

/// Compiles a program, and returns where it is.
fn compile(name: &str, flags: &[&str]) -> PathBuf {
    let variant = flags.iter().filter(|flag| flag.starts_with("-D")).copied().collect::<String>();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}{variant}"));
    let object = out.with_added_extension("o");
    let compiler = if name.ends_with(".cpp") { "g++" } else { "gcc" };
    let compile = ["-g", "-O1", "-fsanitize=thread", "-Wno-tsan", "-mcx16", "-c"];
    let mut command = Command::new(compiler);
    // For trying other levels of optimisation by hand.
    let more = std::env::var("UNPICK_TEST_FLAGS").unwrap_or_default();
    let flags = flags.iter().copied().chain(more.split_whitespace());
    run(command.args(compile).args(flags).arg(source(name)).arg("-o").arg(&object));
    let library = library();
    let path = format!("-Wl,-rpath,{}", library.display());
    let mut command = Command::new(compiler);
    let link = command.arg(&object).arg("-o").arg(&out).arg("-L").arg(&library).arg(path);
    run(link.args(["-lunpick_native", "-pthread"]));
    out
}

fn run(command: &mut Command) {
    let output = command.output().expect("there is a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks a program, with these variables of the environment.
fn check(program: &Path, settings: &[(&str, &str)]) -> Said {
    let (messages, channel) = std::io::pipe().expect("there are pipes");
    let mut command = Command::new(program);
    command.stdin(channel).stdout(Stdio::null()).env(CHANNEL, "0").env("LD_BIND_NOW", "1");
    for (name, _) in unpick_check::config::VARIABLES {
        command.env_remove(name);
    }
    // Cargo names folders there that may hold the runtime of another build.
    command.env_remove("LD_LIBRARY_PATH");
    let mut child = command.envs(settings.iter().copied()).spawn().expect("the program can be started");
    drop(command);
    let mut said = Said { verdict: None, finding: None, findings: 0, titles: Vec::new(), failed: None };
    for line in BufReader::new(messages).lines() {
        let line = line.expect("messages are text");
        match Message::read(&line).expect("lines are messages") {
            Message::Violation(finding) => {
                said.findings += 1;
                said.titles.push(finding.title.clone());
                said.finding = Some(*finding);
            }
            Message::Ended(verdict) => said.verdict = Some(verdict),
            Message::Failed { text } => said.failed = Some(text),
            Message::Started { .. } | Message::Progress(_) => {}
        }
    }
    child.wait().expect("the program ends");
    said
}
