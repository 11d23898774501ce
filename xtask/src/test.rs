//! All tests: `cargo xtask test`.

use crate::shell::{cargo, exists, run, target};
use crate::toolchain::need_target;
use crate::{Problem, tidy};

/// A platform without the parts that are written for x86-64: the code is built for it, and not run.
const ELSEWHERE: &str = "aarch64-unknown-linux-gnu";

/// Programs of the long comparison with the oracle.
const LONG_PROGRAMS: &str = "50000";

#[derive(clap::Args)]
pub(crate) struct Test {
    /// Also lints, tests in release mode, the comparison with the oracle on many more programs, and
    /// the tests of the comparison with other tools.
    #[arg(long)]
    long: bool,
}

impl Test {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        for (program, package) in [("cc", "gcc and libc6-dev")] {
            if !exists(program) {
                return Err(format!("there is no `{program}`; on Debian, `apt-get install` {package}"));
            }
        }
        need_target(ELSEWHERE)?;
        run(&mut cargo(["test", "--workspace", "--no-fail-fast"]))?;
        let audit = [
            "test",
            "--package",
            "unpick-strategies",
            "--package",
            "unpick-testkit",
            "--lib",
            "--test",
            "audit",
        ];
        run(cargo(audit).args(["--features", "unpick-testkit/audit"]))?;
        let check = ["check", "--workspace", "--exclude", "xtask", "--target", ELSEWHERE];
        run(cargo(check).env("RUSTFLAGS", "-Dwarnings"))?;
        let adopted = ["--manifest-path", "examples/adopted/Cargo.toml", "--target-dir"];
        let folder = target().join("adopted");
        run(cargo(["run", "--bin", "same_types"]).args(adopted).arg(&folder))?;
        run(cargo(["test"]).args(adopted).arg(&folder))?;
        if self.long {
            run(&mut cargo(["fmt", "--all", "--check"]))?;
            run(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
            run(&mut cargo(["test", "--workspace", "--release"]))?;
            run(&mut cargo(["test", "--manifest-path", "benches/peers/Cargo.toml"]))?;
            let fuzz = ["run", "--release", "--package", "xtask", "--", "fuzz-oracle", "--programs"];
            run(cargo(fuzz).arg(LONG_PROGRAMS))?;
        }
        tidy::run(&crate::commands())
    }
}
