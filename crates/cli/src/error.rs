//! What can go wrong on the command line; each message says what to do.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// A reason why a command could not be carried out.
#[derive(Debug)]
pub(crate) enum Error {
    /// A setting is not understood.
    Setting(unpick_check::Error),
    /// A file cannot be read.
    Unreadable { path: PathBuf, problem: io::Error },
    /// A line of a file with known violations is not understood.
    Suppression { path: PathBuf, line: usize, problem: String },
    /// A file is no report.
    NoReport { path: PathBuf, problem: String },
    /// A file is no list of checks.
    NoChecks { path: PathBuf, problem: String },
    /// Cargo cannot be started.
    NoCargo(io::Error),
    /// The sources of the examples and the bench are not here.
    NoSources,
    /// The example did not end as it should.
    NotShown { ending: String },
    /// The compiler cannot be started, or cannot be used.
    NoCompiler { program: String, problem: String },
    /// An argument of the compiler that cannot work.
    Refused { what: String, instead: String },
    /// The runtime for C and C++ is not part of this build.
    NoRuntime,
    /// The runtime for C and C++ is built of sources that have gone.
    NoRuntimeSources,
    /// The runtime for C and C++ does not build.
    NotBuilt { problem: String },
    /// There is no folder to unpack things to.
    NoCache,
    /// Things cannot be unpacked.
    NotUnpacked { path: PathBuf, problem: io::Error },
    /// A program cannot be started.
    NoProgram { program: OsString, problem: io::Error },
    /// A debugger was asked for without a program.
    NothingToDebug,
    /// The debugger cannot be started.
    NoDebugger(io::Error),
    /// A report cannot be kept.
    NotKept { path: PathBuf, problem: io::Error },
    /// A program does not say how the check went, or says it in words that are not understood.
    Messages { problem: String },
    /// A program ended without saying how the check went.
    NoVerdict { status: String },
    /// A program could not be checked.
    NotChecked(String),
    /// The text cannot be written.
    Unwritable(io::Error),
}

impl From<unpick_check::Error> for Error {
    fn from(error: unpick_check::Error) -> Error {
        Error::Setting(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Setting(error) => write!(f, "{error}"),
            Error::Unreadable { path, problem } => {
                write!(f, "`{}` cannot be read: {problem}; check the path", path.display())
            }
            Error::Suppression { path, line, problem } => write!(
                f,
                "{}:{line}: {problem}; lines are such as `race:function`, `deadlock:file.c` or `leak:function`",
                path.display()
            ),
            Error::NoReport { path, problem } => write!(
                f,
                "`{}` is not a report of unpick: {problem}; reports are written to target/unpick/*.json",
                path.display()
            ),
            Error::NoChecks { path, problem } => write!(
                f,
                "`{}` does not list checks: {problem}; `unpick test` writes such a file to target/unpick",
                path.display()
            ),
            Error::NoCargo(problem) => {
                write!(f, "cargo cannot be started: {problem}; install it, or put it on the PATH")
            }
            Error::NoSources => write!(
                f,
                "the examples and the bench are part of unpick's sources, which are not here; run the command in a \
                 clone of the repository"
            ),
            Error::NotShown { ending } => write!(
                f,
                "the example {ending} instead of showing its bug; unset UNPICK_ variables and RUSTFLAGS, and try again"
            ),
            Error::NoCompiler { program, problem } => write!(
                f,
                "the compiler `{program}` cannot be used: {problem}; UNPICK_CC and UNPICK_CXX choose another"
            ),
            Error::Refused { what, instead } => write!(f, "`{what}` is not supported: {instead}"),
            Error::NoRuntime => write!(
                f,
                "this build of unpick cannot check C and C++ programs; build it on Linux on 64-bit x86"
            ),
            Error::NoRuntimeSources => write!(
                f,
                "this build of unpick compiles the runtime for C and C++ from the clone that it was built in, which has gone; run \
                 `cargo install --path crates/cli` in a clone"
            ),
            Error::NotBuilt { problem } => {
                write!(
                    f,
                    "the runtime for C and C++ cannot be built: {problem}; `cargo test -p unpick-native` may say more"
                )
            }
            Error::NoCache => write!(
                f,
                "there is no folder for the runtime, since neither HOME nor XDG_CACHE_HOME is set; set UNPICK_CACHE to one"
            ),
            Error::NotUnpacked { path, problem } => write!(
                f,
                "`{}` cannot be written: {problem}; set UNPICK_CACHE to a folder that can be",
                path.display()
            ),
            Error::NoProgram { program, problem } => {
                write!(f, "`{}` cannot be started: {problem}; check the path", program.display())
            }
            Error::NothingToDebug => {
                write!(
                    f,
                    "--gdb is for C and C++ programs; name one after the token, with a path such as ./program"
                )
            }
            Error::NoDebugger(problem) => {
                write!(f, "gdb cannot be started: {problem}; install it, or put it on the PATH")
            }
            Error::NotKept { path, problem } => {
                write!(
                    f,
                    "`{}` cannot be written: {problem}; name another folder for reports",
                    path.display()
                )
            }
            Error::Messages { problem } => {
                write!(
                    f,
                    "the program's messages are not understood: {problem}; build it with this version of unpick"
                )
            }
            Error::NoVerdict { status } => write!(
                f,
                "the program ended without a verdict ({status}); compile and link it with `unpick cc` or `unpick c++`"
            ),
            Error::NotChecked(problem) => write!(f, "{problem}"),
            Error::Unwritable(problem) => write!(f, "the text cannot be written: {problem}"),
        }
    }
}
