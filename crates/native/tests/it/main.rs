//! Programs in `tests/c`, compiled by the system's compilers and checked.
//!
//! Each says in its first lines what is expected of it, for the program with the bug (compiled with `-DBUG`), and for the
//! fixed one:
//!
//! ```text
//! // bug: data race                         the title of the violation
//! // bugs: 12 data race, 24 executions      so many different ones are found by going on, in so many executions
//! // warns: two writes to                   what is told of the program with the bug, which holds
//! // fixed: 3 executions, 1 blocked         how many there are, and that the program holds
//! // fixed: holds                           the same where the number depends on the library of the compiler
//! // refused: cannot be checked             the check ends with an error that says so
//! // says: two accesses to                  what the report of the bug must contain
//! // settings: UNPICK_MODEL=sc              variables of the environment
//! // flags: -std=c++20                      for the compiler
//! // compiler: gcc                          the only one that will do
//! // by: crates/cli                         somebody else runs it
//! ```
//!
//! A line may be missing: a program may have no bug, or nothing but one. Programs of several cases name one in the lines
//! that are about it, `// bug timed: data race`, and get that name as their argument.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use unpick_native_wire::{CHANNEL, Ending, Finding, Found, Message, Output, Verdict};

mod coverage;
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
    /// What the program wrote in its execution.
    output: Output,
    /// The titles of all of them, and the first lines of their messages.
    findings: Vec<(String, String)>,
    failed: Option<String>,
}

impl Said {
    /// The titles of all violations.
    fn titles(&self) -> Vec<&str> {
        self.findings.iter().map(|(title, _)| title.as_str()).collect()
    }
}

fn library() -> PathBuf {
    let own = std::env::current_exe().expect("the test has a path");
    own.parent().expect("it lies in a folder").to_path_buf()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c").join(name)
}

/// The names of all programs.
fn sources() -> Vec<String> {
    let folder = std::fs::read_dir(source("")).expect("there are programs");
    let names = folder.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".h")).collect();
    names.sort();
    names
}

/// The flag for the headers that programs may use.
fn include() -> String {
    format!("-I{}", Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/include").display())
}

/// A compiler, with what the wrapper tells it.
#[derive(Clone, Debug)]
struct Compiler {
    /// gcc or clang.
    family: &'static str,
    c: String,
    cxx: String,
    flags: &'static [&'static str],
}

const GCC: &[&str] = &[
    "-fno-builtin",
    "-Wno-tsan",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
];
const CLANG: &[&str] = &[
    "-mllvm",
    "-tsan-instrument-read-before-write",
    "-mllvm",
    "-tsan-distinguish-volatile",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
];

impl Compiler {
    /// The compiler of a name, such as `gcc-12` or `clang`; the one for C++ is called like it.
    fn named(name: &str) -> Compiler {
        let clang = name.contains("clang");
        let (family, flags) = if clang { ("clang", CLANG) } else { ("gcc", GCC) };
        let cxx = if clang { name.replace("clang", "clang++") } else { name.replace("gcc", "g++") };
        Compiler { family, c: name.to_string(), cxx, flags }
    }
}

/// The compilers: those that `NATIVE_TEST_COMPILERS` names, else gcc, and clang if there is one.
fn compilers() -> Vec<Compiler> {
    if let Ok(names) = std::env::var("NATIVE_TEST_COMPILERS") {
        return names.split(',').map(Compiler::named).collect();
    }
    let versions = ["", "-20", "-19", "-18", "-17", "-16", "-15", "-14"];
    let clangs = versions.map(|version| Compiler::named(&format!("clang{version}")));
    let clang = clangs.into_iter().find(|clang| starts(&clang.cxx));
    std::iter::once(Compiler::named("gcc")).chain(clang).collect()
}

fn starts(program: &str) -> bool {
    let probe = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

/// Compiles a program with gcc, and returns where it is.
fn compile(name: &str, flags: &[&str]) -> PathBuf {
    compile_with(&compilers()[0], name, flags)
}

/// Compiles a program unless that was done, and returns where it is.
fn compile_with(compiler: &Compiler, name: &str, flags: &[&str]) -> PathBuf {
    type Done = Mutex<BTreeMap<PathBuf, Arc<OnceLock<()>>>>;
    static DONE: Done = Mutex::new(BTreeMap::new());
    let variant = flags.iter().filter(|flag| !flag.starts_with("-I")).copied().collect::<String>();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}{variant}", compiler.family));
    let done = DONE.lock().expect("nobody panics here").entry(out.clone()).or_default().clone();
    done.get_or_init(|| build(compiler, name, flags, &out));
    out
}

fn build(compiler: &Compiler, name: &str, flags: &[&str], out: &Path) {
    let object = out.with_added_extension("o");
    let driver = if name.ends_with(".cpp") { &compiler.cxx } else { &compiler.c };
    let compile = ["-O1", "-fsanitize=thread", "-mcx16", "-c"];
    let mut command = Command::new(driver);
    // For other levels of optimisation, unless the program asks for one.
    let more = std::env::var("NATIVE_TEST_FLAGS").unwrap_or_default();
    let command = command.args(compile).args(compiler.flags).args(more.split_whitespace()).args(flags);
    // As the wrapper of the compiler does.
    command.arg("-isystem").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/include/c++"));
    run(command.arg(source(name)).arg("-o").arg(&object));
    let library = library();
    let path = format!("-Wl,-rpath,{}", library.display());
    let mut command = Command::new(driver);
    let link = command.arg(&object).arg("-o").arg(out).arg("-L").arg(&library).arg(path);
    run(link.args(["-lunpick_native", "-pthread"]));
}

fn run(command: &mut Command) {
    let output = command.output().expect("there is a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks a program, with these variables of the environment.
fn check(program: &Path, settings: &[(&str, &str)]) -> Said {
    check_case(program, None, settings)
}

/// Checks a case of a program.
fn check_case(program: &Path, case: Option<&str>, settings: &[(&str, &str)]) -> Said {
    let (messages, channel) = std::io::pipe().expect("there are pipes");
    let mut command = Command::new(program);
    command.args(case).stdin(channel).stdout(Stdio::null()).env(CHANNEL, "0").env("LD_BIND_NOW", "1");
    for setting in unpick_check::SETTINGS {
        command.env_remove(setting.variable);
    }
    // Cargo names folders there that may hold the runtime of another build.
    command.env_remove("LD_LIBRARY_PATH");
    let mut child = command.envs(settings.iter().copied()).spawn().expect("the program can be started");
    drop(command);
    let mut said =
        Said { verdict: None, finding: None, output: Output::default(), findings: Vec::new(), failed: None };
    for line in BufReader::new(messages).lines() {
        let line = line.expect("messages are text");
        match Message::read(&line).expect("lines are messages") {
            Message::Violation(found) => {
                let Found { finding, output } = *found;
                let first = finding.message.first().cloned().unwrap_or_default();
                said.findings.push((finding.title.clone(), first));
                (said.finding, said.output) = (Some(finding), output);
            }
            Message::Ended(verdict) => said.verdict = Some(verdict),
            Message::Failed { text } => said.failed = Some(text),
            Message::Started { .. } | Message::Progress(_) | Message::Ask(_) => {}
        }
    }
    child.wait().expect("the program ends");
    said
}
