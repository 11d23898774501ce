//! What an execution shows that has ended.
//!
//! A new checker is called here, and nowhere else.

use unpick_checkers::{race, stuck};
use unpick_core::execution::Outcome;
use unpick_core::violation::{Wait, Waiter};

use crate::Frontend;
use crate::search::Search;

/// Ends the execution, and turns its outcome into the violation that it shows, if it shows one.
pub fn judge<F: Frontend>(front: &mut F) -> Outcome {
    let ended = front.search().end();
    match ended {
        Outcome::Complete | Outcome::Blocked(_) => judge_whole(front, ended),
        Outcome::Ended if front.search().execution.looks_ahead() => Outcome::Ended,
        // A part of an execution, run again to be told about.
        Outcome::Ended => match front.failure_in_part() {
            Some(failure) => Outcome::Violated(Box::new(failure)),
            None => Outcome::Ended,
        },
        Outcome::Diverged(divergence) => match front.diverged(&divergence) {
            Some(error) => {
                front.search().error.get_or_insert(error);
                Outcome::Diverged(divergence)
            }
            None => Outcome::Rerun,
        },
        other => other,
    }
}

/// An execution that has come as far as it can.
fn judge_whole<F: Frontend>(front: &mut F, outcome: Outcome) -> Outcome {
    look_for_purpose(front, &outcome);
    let stuck = match &outcome {
        Outcome::Blocked(waiters) if !front.has_guessed_wrong(waiters) => {
            let gathering = front.gathering();
            let Search { execution, knowledge, .. } = front.search();
            let patient = !knowledge.is_impatient() && !execution.strategy().follows();
            stuck::judge(execution.graph(), waiters, patient, &gathering)
        }
        _ => None,
    };
    let (outcome, stuck) = match (outcome, stuck) {
        // The process takes those who are stuck with it.
        (Outcome::Blocked(waiters), Some(_)) if front.has_ended(&waiters) => (Outcome::Complete, None),
        other => other,
    };
    let complete = matches!(outcome, Outcome::Complete);
    let failure = front.failure(complete || stuck.is_some());
    let wrong = failure.or_else(|| race::in_graph(front.search().execution.graph()));
    let wrong = wrong.or_else(|| stuck.map(|stuck| front.stuck(stuck)));
    let wrong = wrong.filter(|violation| !front.is_excused(violation));
    let wrong = if complete && wrong.is_none() { front.leak() } else { wrong };
    match wrong {
        Some(violation) => {
            front.has_shown(&violation);
            Outcome::Violated(Box::new(violation))
        }
        None => outcome,
    }
}

/// Looks whether threads share anything, until they are seen to. Who waits for another does.
#[inline]
fn look_for_purpose<F: Frontend>(front: &mut F, outcome: &Outcome) {
    let waits = |waiter: &Waiter| matches!(waiter.wait, Wait::Lock { .. } | Wait::Signal { .. });
    let Search { execution, purpose, .. } = front.search();
    purpose.shares |= matches!(outcome, Outcome::Blocked(waiters) if waiters.iter().any(waits));
    if purpose.look(execution.graph()) && front.shares_beside() {
        front.search().purpose.shares = true;
    }
}
