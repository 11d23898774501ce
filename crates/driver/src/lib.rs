//! What drives a program through its executions, whoever runs it.
//!
//! A front-end runs the code under test: on fibers, in a process of its own, or as data. What it must provide are the traits
//! [`Runner`](explore::Runner), [`Frontend`] and [`Asker`](take::Asker). All else is here, once:
//!
//! - [`search`]: the search in progress, which a front-end keeps in its session.
//! - [`take`]: an op of a thread, from the call to its answer.
//! - [`watch`]: loops that wait: what is done when a thread comes round.
//! - [`judge`]: what an execution that has ended shows. A new checker is called there.
//! - [`explore`]: the loop over executions.
//! - [`witness`]: how to get to a violation again, and which of the schedules that lead there is told.
//! - [`passing`]: loops that ask what time it is: when time passes for them.
//! - [`knowledge`]: what has become known about the program. When that grows, the search starts over.

pub mod explore;
pub mod judge;
pub mod knowledge;
pub mod passing;
pub mod search;
pub mod take;
pub mod watch;
pub mod witness;

use unpick_checkers::stuck::Gathering;
use unpick_core::error::Error;
use unpick_core::execution::Divergence;
use unpick_core::op::ThreadId;
use unpick_core::violation::{Violation, Waiter};

use search::Search;

/// What only the front-end knows of a run.
pub trait Frontend {
    /// The search that it works for.
    fn search(&mut self) -> &mut Search;

    /// A thread goes round in a loop: it is watched from now on.
    fn goes_round(&mut self, _thread: ThreadId) {}

    /// A thread that is watched has done something.
    fn has_done_something(&mut self, _thread: ThreadId) {}

    /// Whether threads of the run that has ended share what is no location of its graph.
    fn shares_beside(&self) -> bool {
        false
    }

    /// A number for what belongs to the state of a thread and is not in memory.
    fn hidden(&mut self, _thread: ThreadId) -> u64 {
        0
    }

    /// Whether a function of the runtime preserves registers and returns to where it was called from, whatever becomes of its
    /// op.
    fn returns(_function: usize) -> bool {
        false
    }

    /// Whether a thread waits on the guess that another waits as well, and none does.
    fn has_guessed_wrong(&self, _waiters: &[Waiter]) -> bool {
        false
    }

    /// Threads that take several locks as one.
    fn gathering(&self) -> Vec<Gathering> {
        Vec::new()
    }

    /// Whether the process ends all the same when these threads are stuck.
    fn has_ended(&self, _waiters: &[Waiter]) -> bool {
        false
    }

    /// What has failed in a thread, and was not handled. `over`: nobody can handle it any more.
    fn failure(&self, _over: bool) -> Option<Violation> {
        None
    }

    /// A deadlock or livelock, in the words of the front-end.
    fn stuck(&self, stuck: Violation) -> Violation {
        stuck
    }

    /// Whether the user knows the violation, and wants to hear nothing of it.
    fn is_excused(&self, _violation: &Violation) -> bool {
        false
    }

    /// What an execution has left behind in which all threads have ended, or the process has.
    fn leak(&mut self) -> Option<Violation> {
        None
    }

    /// The execution that has ended shows a violation; its memory is still there.
    fn has_shown(&self, _violation: &Violation) {}

    /// What is wrong with a part of an execution that was given up.
    fn failure_in_part(&self) -> Option<Violation> {
        None
    }

    /// A replay has gone astray: an error, unless the execution is to be run again with what has become known now.
    fn diverged(&mut self, divergence: &Divergence) -> Option<Error>;
}
