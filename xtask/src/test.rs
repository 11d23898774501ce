//! All tests: `cargo xtask test`.

use std::time::Instant;

use crate::shell::{cargo, exists, output, run, show, target};
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

/// A step: what it is for, and what it does.
type Step<'a> = (&'a str, Box<dyn Fn() -> Result<(), Problem> + 'a>);

impl Test {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let steps = self.steps();
        let began = Instant::now();
        for (number, (what, step)) in steps.iter().enumerate() {
            let minutes = began.elapsed().as_secs() / 60;
            let so_far = if number == 0 { String::new() } else { format!(", after {minutes} min") };
            println!("\n== {} of {}{so_far}: {what}", number + 1, steps.len());
            step()?;
        }
        println!("\nall is well, after {} min", began.elapsed().as_secs() / 60);
        Ok(())
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let all = |args: &'static [&'static str]| move || run(&mut cargo(args));
        let mut steps: Vec<Step<'_>> = vec![
            ("what must be installed", Box::new(installed)),
            ("tests of all packages", Box::new(all(&["test", "--workspace", "--no-fail-fast"]))),
            ("the engine, looked through after each execution", Box::new(all(&AUDIT))),
            ("another processor: it builds", Box::new(elsewhere)),
            ("a crate that has adopted unpick, with and without checks", Box::new(adopted)),
        ];
        if self.long {
            steps.extend::<[Step<'_>; 5]>([
                ("format", Box::new(all(&["fmt", "--all", "--check"]))),
                ("lints", Box::new(all(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))),
                ("tests, optimised", Box::new(all(&["test", "--workspace", "--release"]))),
                (
                    "tests of the comparison with other tools",
                    Box::new(all(&["test", "--manifest-path", "benches/peers/Cargo.toml"])),
                ),
                ("the engine and the oracle", Box::new(all(&FUZZ))),
            ]);
        }
        steps.push(("tidy", Box::new(|| tidy::run(&crate::commands()))));
        steps
    }
}

const AUDIT: [&str; 10] = [
    "test",
    "--package",
    "unpick-strategies",
    "--package",
    "unpick-testkit",
    "--lib",
    "--test",
    "audit",
    "--features",
    "unpick-testkit/audit",
];

const FUZZ: [&str; 8] =
    ["run", "--release", "--package", "xtask", "--", "fuzz-oracle", "--programs", LONG_PROGRAMS];

fn installed() -> Result<(), Problem> {
    for (program, package) in [("cc", "gcc and libc6-dev")] {
        if !exists(program) {
            return Err(format!("there is no `{program}`; on Debian, `apt-get install` {package}"));
        }
    }
    need_target(ELSEWHERE)
}

fn elsewhere() -> Result<(), Problem> {
    let check = ["check", "--workspace", "--exclude", "xtask", "--target", ELSEWHERE];
    run(cargo(check).env("RUSTFLAGS", "-Dwarnings"))
}

fn adopted() -> Result<(), Problem> {
    let folder = target().join("adopted");
    let of = |words: &[&str], manifest: &str| {
        let mut command = cargo(words);
        command.args(["--manifest-path", manifest, "--target-dir"]).arg(&folder);
        command
    };
    run(&mut of(&["run", "--bin", "same_types"], "examples/adopted/Cargo.toml"))?;
    run(&mut of(&["test"], "examples/adopted/Cargo.toml"))?;
    let mut unchecked = of(&["test"], "examples/adopted/unchecked/Cargo.toml");
    println!("$ {}", show(&unchecked));
    let said = output(&mut unchecked)?;
    let passed_over = |line: &str| line.contains("::is_checked ... ignored, not checked: unpick's feature");
    if said.lines().any(passed_over) { Ok(()) } else { Err(format!("a check is not passed over:\n{said}")) }
}
