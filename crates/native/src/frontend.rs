//! What processes of C and C++ programs provide for the engine.

use unpick_checkers::stuck::Gathering;
use unpick_core::error::Error;
use unpick_core::execution::Divergence;
use unpick_core::op::ThreadId;
use unpick_core::violation::{Kind, Violation, Wait, Waiter};
use unpick_driver::Frontend;
use unpick_driver::search::Search;

use crate::session::Session;
use crate::{debugger, trial};

/// The session, by way of a pointer: the program has one, too, and no reference is held while it runs.
#[derive(Clone, Copy)]
pub(crate) struct Handle(pub(crate) *mut Session);

impl Handle {
    #[allow(
        clippy::mut_from_ref,
        reason = "no reference is held while the program runs, and none at the same time as another"
    )]
    pub(crate) fn session(&self) -> &mut Session {
        // SAFETY: the session is never freed, and one OS thread uses it.
        unsafe { &mut *self.0 }
    }
}

impl Frontend for Handle {
    fn search(&mut self) -> &mut Search {
        &mut self.session().search
    }

    fn shares_beside(&self) -> bool {
        self.session().shadow.is_shared()
    }

    /// Its clock, if anybody looks at one, what random numbers come next, and where files stand.
    fn hidden(&mut self, thread: ThreadId) -> u64 {
        self.session().hidden(thread)
    }

    fn returns(function: usize) -> bool {
        trial::returns(function)
    }

    fn gathering(&self) -> Vec<Gathering> {
        self.session().gathering()
    }

    fn has_ended(&self, waiters: &[Waiter]) -> bool {
        let s = self.session();
        let main_ended = s.search.execution.graph().is_finished(ThreadId::MAIN);
        (!s.limits.must_end && main_ended) || waiters.iter().any(|waiter| waiter.wait == Wait::Exit)
    }

    /// A loop inside a function that waits is no loop of the program: it is a deadlock.
    fn stuck(&self, stuck: Violation) -> Violation {
        let threads = &self.session().threads;
        let inside = |waiter: &Waiter| {
            !matches!(waiter.wait, Wait::Spin { .. }) || threads[waiter.point.thread.index()].inside
        };
        match stuck.kind {
            Kind::Livelock { waiters } if waiters.iter().all(inside) => {
                Violation { kind: Kind::Deadlock { waiters }, ..stuck }
            }
            _ => stuck,
        }
    }

    fn is_excused(&self, violation: &Violation) -> bool {
        self.session().is_known_ending(violation)
    }

    fn leak(&mut self) -> Option<Violation> {
        self.session().leak()
    }

    fn has_shown(&self, violation: &Violation) {
        debugger::stop(violation);
    }

    fn diverged(&mut self, divergence: &Divergence) -> Option<Error> {
        Some(self.session().told_divergence(divergence))
    }
}
