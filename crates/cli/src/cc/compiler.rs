//! Which compiler there is, and what it must be told.
//!
//! gcc and clang instrument the same accesses, and differ in the options for the rest:
//!
//! - gcc writes out calls of `memset` and the like as plain moves that are not instrumented, so these stay calls. Its
//!   driver also wants a library for the instrumentation when it links, and gets one that names the runtime.
//! - clang leaves the library out when asked. Without being told it drops reads that a write of the same place follows.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Kit;
use super::Language;
use crate::error::Error;

/// The words that start the compiler: that of the environment, or the system's.
pub(super) fn words(language: Language, chosen: Option<&OsString>) -> Vec<OsString> {
    if let Some(chosen) = chosen {
        if std::path::Path::new(chosen).is_file() {
            return vec![chosen.clone()];
        }
        let words: Vec<OsString> = chosen.to_string_lossy().split_whitespace().map(OsString::from).collect();
        if !words.is_empty() {
            return words;
        }
    }
    let known = match language {
        Language::C => ["cc", "gcc", "clang"],
        Language::Cxx => ["c++", "g++", "clang++"],
    };
    let there = known.iter().find(|name| on_path(name));
    vec![OsString::from(there.unwrap_or(&known[0]))]
}

fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// A compiler, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compiler {
    /// gcc, with its major version.
    Gcc(u32),
    /// clang, with its major version.
    Clang(u32),
}

/// The first gcc and the first clang with all options that are used.
const FIRST_GCC: u32 = 11;
const FIRST_CLANG: u32 = 14;

impl Compiler {
    /// Asks a compiler what it is.
    pub(super) fn ask(words: &[OsString], language: Language) -> Result<Compiler, Error> {
        let name = words[0].to_string_lossy().into_owned();
        let failed = |problem: String| Error::NoCompiler { program: name.clone(), problem };
        let language = match language {
            Language::C => "c",
            Language::Cxx => "c++",
        };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["-dM", "-E", "-x", language, "/dev/null"]).stdin(Stdio::null());
        let output = command.output().map_err(|problem| failed(problem.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_string()));
        }
        Compiler::told(&String::from_utf8_lossy(&output.stdout)).map_err(failed)
    }

    /// From the macros that a compiler defines.
    fn told(macros: &str) -> Result<Compiler, String> {
        let value = |name: &str| {
            let words = macros.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            words
                .into_iter()
                .find(|words| words.get(1) == Some(&name))
                .and_then(|words| words.get(2)?.parse::<u32>().ok())
        };
        if value("__x86_64__").is_none() {
            return Err(String::from(
                "it does not compile for 64-bit x86, and only such programs can be checked",
            ));
        }
        match (value("__clang_major__"), value("__GNUC__")) {
            (Some(version), _) if version >= FIRST_CLANG => Ok(Compiler::Clang(version)),
            (None, Some(version)) if version >= FIRST_GCC => Ok(Compiler::Gcc(version)),
            (Some(version), _) => Err(format!(
                "it is clang {version}, and {FIRST_CLANG} is the oldest that works; install a newer one"
            )),
            (None, Some(version)) => Err(format!(
                "it is gcc {version}, and {FIRST_GCC} is the oldest that works; install a newer one"
            )),
            (None, None) => {
                Err(String::from("it is neither gcc nor clang; set UNPICK_CC and UNPICK_CXX to one"))
            }
        }
    }

    /// What it is told when it compiles. Later options of the user override `-O1` and `-g`.
    pub(super) fn instrumenting(self) -> Vec<OsString> {
        let both = ["-g", "-O1", "-fsanitize=thread", "-mcx16"];
        let own: &[&str] = match self {
            Compiler::Gcc(_) => &[
                "-fno-builtin",
                "-Wno-tsan",
                "--param=tsan-distinguish-volatile=1",
                "--param=tsan-instrument-func-entry-exit=0",
            ],
            Compiler::Clang(_) => &[
                // When it only links, it has no use for the rest, and should not say so.
                "--start-no-unused-arguments",
                "-mllvm",
                "-tsan-instrument-read-before-write",
                "-mllvm",
                "-tsan-distinguish-volatile",
                "-mllvm",
                "-tsan-instrument-func-entry-exit=0",
                "--end-no-unused-arguments",
            ],
        };
        both.iter().chain(own).map(OsString::from).collect()
    }

    /// What it is told when it links: the runtime comes first, so that its names go before those of other libraries. The library
    /// has no name of its own, so the program keeps its path, and nothing else can take its place.
    pub(super) fn linking(self, kit: &Kit) -> Vec<OsString> {
        let with = |option: &str, folder: PathBuf| {
            let mut word = OsString::from(option);
            word.push(folder);
            word
        };
        let library = match self {
            Compiler::Gcc(_) => with("-B", kit.stand_in()),
            Compiler::Clang(_) => OsString::from("-fno-sanitize-link-runtime"),
        };
        vec![
            library,
            // Programs that use nothing of it by name need it nevertheless.
            OsString::from("-Wl,--push-state,--no-as-needed"),
            kit.runtime().into_os_string(),
            OsString::from("-Wl,--pop-state"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_is_told_by_its_macros() {
        let gcc = "#define __GNUC__ 12\n#define __x86_64__ 1\n";
        let clang = "#define __GNUC__ 4\n#define __clang_major__ 16\n#define __x86_64__ 1\n";
        assert_eq!(Compiler::told(gcc), Ok(Compiler::Gcc(12)));
        assert_eq!(Compiler::told(clang), Ok(Compiler::Clang(16)));
        assert!(Compiler::told("#define __GNUC__ 9\n#define __x86_64__ 1\n").is_err());
        assert!(Compiler::told("#define __GNUC__ 12\n#define __aarch64__ 1\n").is_err());
        assert!(Compiler::told("#define __x86_64__ 1\n").is_err());
    }

    #[test]
    fn a_compiler_is_chosen_by_the_environment() {
        assert_eq!(words(Language::C, Some(&OsString::from("ccache gcc -pipe"))), ["ccache", "gcc", "-pipe"]);
        assert_eq!(words(Language::C, None).len(), 1);
    }
}
