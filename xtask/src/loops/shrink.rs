//! Makes a program smaller that is judged wrongly.

use std::time::{Duration, Instant};

use super::batch::{Batch, Build};
use super::builds::RustBuild;
use super::compare::Judgement;
use super::program::Program;
use crate::Problem;

/// After so long the program is small enough.
const TIME: Duration = Duration::from_secs(40);

/// Takes away what is not needed for a judgement of this kind. All that can be taken away at a time is tried together, since
/// building takes longest.
pub(crate) fn shrink(build: &Build, program: &Program, judgement: &Judgement) -> Result<Program, Problem> {
    let started = Instant::now();
    let faster = Build::Rust(RustBuild::Release);
    let mut build = build;
    if let Build::Rust(RustBuild::Lto) = build {
        let alike = Batch::build(&faster, vec![program.clone()], "shrink")?.judge()?;
        if alike.iter().all(|alike| alike.is_like(judgement)) {
            build = &faster;
        }
    }
    let mut smallest = program.clone();
    while started.elapsed() < TIME {
        let batch = Batch::build(build, smallest.smaller(), "shrink")?;
        let judgements = batch.judge()?;
        let found = judgements.iter().position(|smaller| smaller.is_like(judgement));
        let Some(found) = found else { break };
        smallest = batch.programs[found].clone();
    }
    Ok(smallest)
}
