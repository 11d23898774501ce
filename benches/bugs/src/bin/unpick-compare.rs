//! Compares strategies on the bench of bugs: what `unpick compare` starts.

use std::process::ExitCode;

use unpick_bugs::{Variant, all};
use unpick_compare::Program;

fn main() -> ExitCode {
    let programs: Vec<Program> = all()
        .iter()
        .map(|bug| {
            let body = bug.program;
            Program::new(bug.name, move || body(Variant::Buggy))
                .fixed(move || body(Variant::Fixed))
                .group(bug.family())
                .kind(bug.memory.name())
                .check(bug.check())
        })
        .collect();
    unpick_compare::main(&programs)
}
