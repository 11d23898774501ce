//! Starts `unpick` by another name: so there is one program, and cargo can install all its names.

use std::io::Write;
use std::process::{Command, ExitCode};

/// Becomes `unpick` that is called `name`: the one in the same folder, or else that on the PATH.
pub(crate) fn run(name: &str) -> ExitCode {
    let own = std::env::current_exe().unwrap_or_default();
    let near = own.with_file_name(format!("unpick{}", std::env::consts::EXE_SUFFIX));
    let unpick = if near.is_file() { near } else { "unpick".into() };
    let mut command = Command::new(&unpick);
    command.args(std::env::args_os().skip(1));
    let problem = match become_it(&mut command, name) {
        Ok(code) => return code,
        Err(problem) => problem,
    };
    // Standard error that has gone away leaves nobody to tell.
    let _ = writeln!(
        std::io::stderr(),
        "error: `{name}` is a name for `{}`, which cannot be started: {problem}; install all of them, with \
         `cargo install --path crates/cli` in a clone of unpick",
        unpick.display()
    );
    ExitCode::from(2)
}

/// Comes back only if it cannot.
#[cfg(unix)]
fn become_it(command: &mut Command, name: &str) -> Result<ExitCode, std::io::Error> {
    use std::os::unix::process::CommandExt;
    Err(command.arg0(name).exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command, name: &str) -> Result<ExitCode, std::io::Error> {
    let word = match name {
        "unpick-cc" => Some("cc"),
        "unpick-cxx" => Some("c++"),
        _ => None,
    };
    let mut whole = Command::new(command.get_program());
    let status = whole.args(word).args(command.get_args()).status()?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(2)).unwrap_or(2)))
}
