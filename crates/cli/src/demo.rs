//! An example with a bug: built, checked and shown.
//!
//! The example is a program of its own, since the command line links no front-end. It is looked
//! for where this program was built, and in the current directory and those above it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::run::say;
use crate::{Exit, cargo};

/// The example, from the root of the workspace.
const EXAMPLE: &str = "crates/unpick/examples/spsc_ring.rs";

const TOLD: &str = "
The consumer sees the new `tail` before it may touch the slot: `tail` was stored with Relaxed.
With Release it holds, and this proves it: cargo run -p unpick --example spsc_ring -- fixed
";

/// Shows the bug of the example.
pub(crate) fn demo() -> Result<Exit, Error> {
    let root = root(EXAMPLE).ok_or(Error::NoSources)?;
    say(&format!("building and checking {EXAMPLE} ...\n\n"))?;
    let status = Command::new(cargo::program())
        .args(["run", "--quiet", "--package", "unpick", "--example", "spsc_ring"])
        .current_dir(root)
        .status()
        .map_err(Error::NoCargo)?;
    match status.code() {
        Some(1) => say(TOLD),
        Some(0) => Err(Error::NotShown { ending: String::from("holds") }),
        _ => Err(Error::NotShown { ending: format!("ended with {status}") }),
    }
}

/// The root of a workspace with this file in it: where this program was built, or in the current directory
/// and those above it.
pub(crate) fn root(file: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut candidates = built.ancestors().chain(here.ancestors());
    candidates.find(|folder| folder.join(file).is_file()).map(Path::to_path_buf)
}
