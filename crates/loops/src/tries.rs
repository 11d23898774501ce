//! Threads that try locks in turn: a proof that nothing breaks, by a program that can do more.
//!
//! A thread takes one lock, fails to take another one, gives the first back, and begins with the other one. Two of them
//! may get in each other's way for ever, and no round of one leaves nothing behind by itself: the other one has noticed it.
//! So the search is first made of another program, in which such a try is a [choice](Op::attempt): it may fail for no
//! reason, and then reads nothing; or the thread waits until it has the lock. A read may always be left out, as
//! [`unpick_core::round`] argues, so whatever the true program can do, this one can do as well. But here nobody notices a
//! try, and each round leaves nothing behind by itself. If nothing breaks here, nothing breaks in the true program.
//!
//! - A thread that waits for a lock which it has tried to take shows nothing: it gives up in another execution. What it
//!   does to the lock is looked at before it waits, since a true try would have touched the lock.
//! - A thread that is stopped in its round after it has given up is not stuck unless somebody keeps a lock.
//! - If anything breaks, or a loop is cut, the search is made anew with true tries, and this is not done again. So nothing
//!   that is told was found here.

use unpick_core::execution::{Execution, Outcome};
use unpick_core::op::Site;

/// What is known of tries.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    /// Where they fail, as threads take turns.
    sites: Vec<Site>,
    /// Whether there are new ones.
    grown: bool,
    /// Whether something was found with choices in their place.
    refuted: bool,
}

impl Tries {
    /// Notes where a thread fails that takes turns.
    pub(crate) fn note(&mut self, execution: &Execution, sites: impl Iterator<Item = Site>) {
        if self.refuted || !explores_all(execution) {
            return;
        }
        for site in sites {
            if !self.sites.contains(&site) {
                self.sites.push(site);
                self.grown = true;
            }
        }
    }

    /// Whether the search must start over, with more choices.
    pub(crate) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// Whether there is a choice in place of a try.
    #[inline]
    pub(crate) fn is_free(&self, execution: &Execution, site: Site) -> bool {
        !self.sites.is_empty() && self.sites.contains(&site) && explores_all(execution)
    }

    /// Whether an execution has shown what must be confirmed with true tries; `cut`: or some loop was cut. From then on
    /// tries are true.
    pub(crate) fn refute(&mut self, execution: &Execution, outcome: &Outcome, cut: bool) -> bool {
        if self.sites.is_empty() || !explores_all(execution) {
            return false;
        }
        let refuted = cut || matches!(outcome, Outcome::Violated(_) | Outcome::Cut(_));
        if refuted {
            *self = Tries { refuted, ..Tries::default() };
        }
        refuted
    }
}

/// Whether the search goes through all executions, by their graphs.
fn explores_all(execution: &Execution) -> bool {
    let strategy = execution.strategy();
    !execution.looks_ahead() && !strategy.follows() && strategy.preemption_bound().is_none()
}
