//! An example with a bug: built, checked and shown.
//!
//! The example is a program of its own, since the command line links no front-end. It is looked
//! for where this program was built, and in the current directory and those above it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Error;
use crate::run::say;
use crate::{Exit, cargo};

/// The example, from the root of the workspace.
const EXAMPLE: &str = "crates/unpick/examples/spsc_ring.rs";
const NAME: &str = "spsc_ring";

const TOLD: &str = "
The consumer sees the new `tail` before it may touch the slot: `tail` was stored with Relaxed.
With Release it holds, and this proves it: cargo run -p unpick --example spsc_ring -- fixed
";

/// Shows the bug of the example.
pub(crate) fn demo() -> Result<Exit, Error> {
    let root = root(EXAMPLE).ok_or(Error::NoSources)?;
    say(&format!("building {EXAMPLE} ...\n"))?;
    let program = built(&root)?;
    say(&format!("checking {EXAMPLE} ...\n\n"))?;
    let status = Command::new(&program).current_dir(root).status();
    let status = status.map_err(|problem| Error::NoProgram { program: program.into(), problem })?;
    match status.code() {
        Some(1) => say(TOLD),
        Some(0) => Err(Error::NotShown { ending: String::from("holds") }),
        _ => Err(Error::NotShown { ending: format!("ended with {status}") }),
    }
}

/// The program of the example. Cargo shows how far it is.
fn built(root: &Path) -> Result<PathBuf, Error> {
    let mut command = Command::new(cargo::program());
    command.args(["build", "--package", "unpick", "--example", NAME]);
    // Cargo chooses features of dependencies for all packages that it is to build. With this one among them they are those of
    // this program, which cargo may have built a moment ago, so that nothing is built twice.
    if cfg!(debug_assertions) {
        command.args(["--package", env!("CARGO_PKG_NAME")]);
    }
    command.arg("--message-format=json-render-diagnostics").current_dir(root).stderr(Stdio::inherit());
    let output = command.output().map_err(Error::NoCargo)?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let built = messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message["executable"].as_str().filter(|_| message["target"]["name"] == NAME)?;
        Some(PathBuf::from(path))
    });
    built.ok_or_else(|| Error::NotShown { ending: String::from("does not build") })
}

/// The root of a workspace with this file in it: where this program was built, or in the current directory
/// and those above it.
pub(crate) fn root(file: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut candidates = built.ancestors().chain(here.ancestors());
    candidates.find(|folder| folder.join(file).is_file()).map(Path::to_path_buf)
}
