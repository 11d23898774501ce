//! `unpick cc` and `unpick c++`: the compiler that is already there, with what checking needs.
//!
//! The compiler's own thread instrumentation turns every access to memory into a call. Usually the library of the
//! compiler answers these calls; here the runtime of unpick does. So nothing has to follow the versions of a compiler,
//! and no source is changed. Arguments are passed on as they are, in front of them what is added:
//!
//! - compiling: instrumentation, debug information, and `-O1`, which a `-O` of the user overrides;
//! - linking: the runtime as the first library, found by a path that the program keeps;
//! - neither, such as `--version`: nothing.
//!
//! | module | does |
//! |---|---|
//! | `line` | what the arguments ask for |
//! | `compiler` | which compiler there is, and what it must be told |
//! | `kit` | the runtime and the headers, unpacked |
//! | `runtime` | how the runtime is built |
//! | `lint` | atomic operations in the program that the runtime cannot see |

mod compiler;
pub(crate) mod kit;
mod line;
mod lint;
mod runtime;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::Command;

use crate::Exit;
use crate::error::Error;
use compiler::Compiler;
pub(crate) use kit::Kit;
use line::{Line, Step};

/// Which of the two compilers is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// `unpick cc`.
    C,
    /// `unpick c++`.
    Cxx,
}

/// The variables of the environment that the wrapper looks at.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    /// `UNPICK_CC` or `UNPICK_CXX`: the compiler, with arguments if need be.
    compiler: Option<OsString>,
    /// Where things are unpacked: `UNPICK_CACHE`, or `unpick` in the user's folder for such things.
    cache: Option<PathBuf>,
    /// `UNPICK_RUNTIME`: a runtime in place of the one that is built in.
    runtime: Option<PathBuf>,
    /// `UNPICK_LINT=off`: programs are not looked through.
    unlinted: bool,
}

impl Environment {
    /// Reads the environment of the process.
    pub(crate) fn read(language: Language) -> Environment {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = |name: &str, below: &str| Some(PathBuf::from(variable(name)?).join(below));
        Environment {
            compiler: variable(match language {
                Language::C => "UNPICK_CC",
                Language::Cxx => "UNPICK_CXX",
            }),
            cache: folder("UNPICK_CACHE", "")
                .or_else(|| folder("XDG_CACHE_HOME", "unpick"))
                .or_else(|| folder("HOME", ".cache/unpick")),
            runtime: variable("UNPICK_RUNTIME").map(PathBuf::from),
            unlinted: variable("UNPICK_LINT").is_some_and(|value| value == "off"),
        }
    }
}

/// Calls the compiler. Ends as the compiler does.
pub(crate) fn run(language: Language, arguments: &[OsString]) -> Result<Exit, Error> {
    let environment = Environment::read(language);
    let line = Line::of(arguments)?;
    let words = compiler::words(language, environment.compiler.as_ref());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    if line.step == Step::Ask {
        return replaced(command.args(arguments));
    }
    line.refuse()?;
    let compiler = Compiler::ask(&words, language)?;
    let kit = Kit::unpacked(&environment)?;
    command.args(compiler.instrumenting());
    command.arg("-isystem").arg(kit.include());
    // C++ sources may be given to the compiler of C as well; C has no header of that name.
    command.arg("-isystem").arg(kit.cxx_include());
    if line.step == Step::Compile {
        return replaced(command.args(arguments));
    }
    if line.is_partial() {
        return replaced(command.args(arguments));
    }
    command.args(compiler.linking(&kit));
    let status = command.args(arguments).status().map_err(|problem| unstartable(&words[0], problem))?;
    let Some(code) = status.code() else {
        // As a shell tells of a process that a signal has ended.
        return Ok(Exit::Passed(128_u8.saturating_add(status.signal().unwrap_or(0) as u8)));
    };
    if code == 0 && !environment.unlinted {
        for warning in lint::look(&line.program(), kit.runtime())? {
            // Standard error that has gone away leaves nobody to tell.
            let _ = writeln!(std::io::stderr(), "{warning}");
        }
    }
    Ok(Exit::Passed(code as u8))
}

/// The compiler takes the place of this process; comes back only if it cannot.
fn replaced(command: &mut Command) -> Result<Exit, Error> {
    let problem = command.exec();
    Err(unstartable(command.get_program(), problem))
}

fn unstartable(program: &std::ffi::OsStr, problem: std::io::Error) -> Error {
    Error::NoCompiler { program: program.to_string_lossy().into_owned(), problem: problem.to_string() }
}
