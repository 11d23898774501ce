//! Compares what the engine finds with what the oracle says.

use crate::drive::{Explored, Settings, explore};
use crate::{Model, Options, Program, Truth, enumerate};

/// What the engine gets wrong about a program under any model, in words. Programs that are too
/// large for the oracle pass.
pub fn difference(program: &Program, spurious: bool) -> Option<String> {
    difference_of(program, spurious, |settings| explore(program, settings))
}

/// As [`difference`], with another way to explore.
pub fn difference_of(
    program: &Program,
    spurious: bool,
    mut explore: impl FnMut(Settings<'_>) -> Explored,
) -> Option<String> {
    let options = Options { models: Model::ALL.to_vec(), spurious, keys: true, ..Options::default() };
    let truths = enumerate(program, &options).ok()?;
    truths.into_iter().find_map(|(model, truth)| {
        let settings = Settings { spurious, ..Settings::exact(model.name()) };
        judge(&explore(settings), &truth).map(|problem| format!("{model}: {program}\n{problem}"))
    })
}

fn judge(found: &Explored, truth: &Truth) -> Option<String> {
    let counts = (found.complete, found.blocked, found.deadlock, found.racy, found.duplicates);
    let wanted = (truth.complete, truth.blocked, truth.deadlock, truth.racy, 0);
    if counts == wanted && found.keys == truth.keys {
        return None;
    }
    let missing: Vec<String> = truth.keys.difference(&found.keys).take(5).map(|k| k.to_string()).collect();
    let extra: Vec<String> = found.keys.difference(&truth.keys).take(5).map(|k| k.to_string()).collect();
    Some(format!(
        "complete, blocked, deadlock, racy, duplicates: found {counts:?}, wanted {wanted:?}\n\
         missing {missing:#?}\nextra {extra:#?}"
    ))
}
