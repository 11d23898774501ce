//! Unit tests of the engine under Miri: `cargo xtask miri`.
//!
//! The crates have no unsafe code of their own, so that Miri finds what their dependencies and the standard library do not
//! allow, overflows, and tests that depend on the machine. It needs a nightly toolchain.

use std::process::Command;

use crate::Problem;
use crate::shell::{root, run};
use crate::toolchain::need_miri;

/// The crates that run without fibers and without system calls.
const PACKAGES: [&str; 4] = ["unpick-core", "unpick-models", "unpick-strategies", "unpick-checkers"];

#[derive(clap::Args)]
pub(crate) struct Miri {
    /// The toolchain, which has Miri or gets it.
    #[arg(long, default_value = "nightly")]
    toolchain: String,
}

impl Miri {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        need_miri(&self.toolchain)?;
        let mut command = Command::new("rustup");
        command.current_dir(root()).args(["run", &self.toolchain, "cargo", "miri", "test", "--no-fail-fast"]);
        // What cargo has set for this program is of another toolchain.
        for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
            command.env_remove(name);
        }
        run(command.args(PACKAGES.iter().flat_map(|package| ["--package", package])))
    }
}
