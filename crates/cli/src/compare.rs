//! Strategies side by side, on the bench of bugs.
//!
//! The comparison is a program of its own, since the command line links no front-end. It is built from the
//! sources, optimised, and gets all arguments.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use unpick_runtime::interrupt;

use crate::error::Error;
use crate::{Exit, cargo, demo};

/// The program that compares, from the root of the workspace.
const PROGRAM: &str = "benches/bugs/src/bin/unpick-compare.rs";

/// Builds the bench, and compares strategies on it.
pub(crate) fn compare(options: &[OsString]) -> Result<Exit, Error> {
    let root = demo::root(PROGRAM).ok_or(Error::NoSources)?;
    let manifest = root.join("Cargo.toml");
    let mut command = Command::new(cargo::program());
    // The folder stays the same, so that paths in the options mean what they say.
    command.args(["run", "--release", "--quiet", "--package", "unpick-bugs", "--bin", "unpick-compare"]);
    command.arg("--manifest-path").arg(manifest).arg("--").args(options).stdin(Stdio::null());
    let status = cargo::uninterrupted(&mut command)?;
    if interrupt::requested() {
        return Ok(cargo::after_interrupt());
    }
    // Whoever failed, cargo or the comparison, has said why.
    Ok(match status.code() {
        Some(0) => Exit::Holds,
        Some(3) => Exit::Inconclusive,
        _ => Exit::Error,
    })
}
