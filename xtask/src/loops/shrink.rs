//! Makes a program smaller that is judged wrongly.

use super::batch::{Batch, Build};
use super::compare::Judgement;
use super::program::Program;
use crate::Problem;

/// How often something is taken away at most.
const STEPS: usize = 20;

/// Takes away what is not needed for a judgement of this kind. All that can be taken away at a time is tried together, since
/// building takes longest.
pub(crate) fn shrink(build: &Build, program: &Program, judgement: &Judgement) -> Result<Program, Problem> {
    let mut smallest = program.clone();
    for _ in 0..STEPS {
        let batch = Batch::build(build, smallest.smaller(), "shrink")?;
        let judgements = batch.judge()?;
        let found = judgements.iter().position(|smaller| smaller.is_like(judgement));
        let Some(found) = found else { break };
        smallest = batch.programs[found].clone();
    }
    Ok(smallest)
}
