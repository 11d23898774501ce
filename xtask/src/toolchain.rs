//! Parts of the Rust toolchain that not everyone has installed: found, or fetched by rustup.

use std::path::Path;
use std::process::Command;

use crate::Problem;
use crate::shell::{exists, output, run};

/// Makes sure that the toolchain in use can build for a target.
pub(crate) fn need_target(target: &str) -> Result<(), Problem> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(target).is_dir() {
        return Ok(());
    }
    let hint =
        format!("the standard library for {target} is missing; `rustup target add {target}` installs it");
    if !exists("rustup") {
        return Err(hint);
    }
    run(Command::new("rustup").args(["target", "add", target]))
        .map_err(|problem| format!("{hint}: {problem}"))
}

/// Makes sure that a toolchain has Miri.
pub(crate) fn need_miri(toolchain: &str) -> Result<(), Problem> {
    let has = Command::new("rustup").args(["run", toolchain, "cargo", "miri", "--version"]).output();
    if has.as_ref().is_ok_and(|probe| probe.status.success()) {
        return Ok(());
    }
    let install = ["toolchain", "install", toolchain, "--profile", "minimal", "--component", "miri,rust-src"];
    let hint = format!("there is no Miri; `rustup {}` installs it", install.join(" "));
    if has.is_err() {
        return Err(format!("{hint}, and there is no rustup"));
    }
    run(Command::new("rustup").args(install)).map_err(|problem| format!("{hint}: {problem}"))
}
