//! Other programs: where things are, and how to run them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Problem;

/// The folder of the workspace: of the one that cargo runs this in, as checkouts may share a target
/// folder.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let own = Path::new(&own);
    own.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A call of cargo in the workspace.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(args);
    command
}

/// Builds the command line, and the runtime of C and C++ programs, which it has built when it compiles its first program; where the
/// command line is. The runtime is optimised in any case.
pub(crate) fn unpick() -> Result<PathBuf, Problem> {
    run(&mut cargo(["build", "--quiet", "--package", "unpick-cli"]))?;
    let unpick = target().join("debug/unpick");
    let (source, program) = (target().join("first.c"), target().join("first"));
    std::fs::write(&source, "int main(void) { return 0; }\n")
        .map_err(|error| format!("{}: {error}", source.display()))?;
    run(Command::new(&unpick).arg("cc").arg(&source).arg("-o").arg(&program))?;
    Ok(unpick)
}

/// Runs a command, showing what it says.
pub(crate) fn run(command: &mut Command) -> Result<(), Problem> {
    println!("$ {}", show(command));
    let status = command.status().map_err(|error| format!("`{}`: {error}", show(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed: {status}", show(command))) }
}

/// Runs a command for what it writes to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, Problem> {
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(|error| format!("`{}`: {error}", show(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{}` failed: {}\n{said}", show(command), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program can be started.
pub(crate) fn exists(program: &str) -> bool {
    let probe = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok()
}

/// The words of a command.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
