//! What fibers provide for the loop over executions.

use unpick_core::error::Error;
use unpick_core::execution::{Divergence, Outcome};
use unpick_core::op::ThreadId;
use unpick_core::plan::{Ending, Outlook};
use unpick_core::stats::Stats;
use unpick_core::timeouts::Timeouts;
use unpick_core::violation::{Violation, Wait, Waiter};
use unpick_driver::Frontend;
use unpick_driver::explore::{Explorer, Pause, Runner};
use unpick_driver::search::Search;

use crate::panics::{self, Panic};
use crate::session::{self, Session};
use crate::{freed, interrupt, trial};

/// The session, by way of a pointer: fibers have one, too, and no reference is held while they run.
#[derive(Clone, Copy)]
pub(crate) struct Handle(*mut Session);

impl Handle {
    /// # Safety
    ///
    /// The session outlives the handle, and is used by this OS thread alone.
    pub(crate) unsafe fn new(session: *mut Session) -> Handle {
        Handle(session)
    }

    #[allow(
        clippy::mut_from_ref,
        reason = "no reference is held while fibers run, and none at the same time as another"
    )]
    fn session(&self) -> &mut Session {
        // SAFETY: whoever has made the handle promises.
        unsafe { &mut *self.0 }
    }
}

impl Runner for Handle {
    fn search(&mut self) -> &mut Search {
        &mut self.session().search
    }

    fn run(&mut self) -> Result<Outcome, Error> {
        let outcome = session::run(self.0);
        Ok(freed::look_again(self.0, outcome))
    }

    fn is_fatal(&self) -> bool {
        self.session().fatal
    }

    fn before_run(&mut self, explorer: &Explorer) -> Result<Option<Pause>, Error> {
        let s = self.session();
        if s.pulse.is_stopped() {
            let late = explorer.is_late() && !(s.limits.interrupts && interrupt::requested());
            return Ok(Some(Pause::Over(if late { Ending::Time } else { Ending::Interrupted })));
        }
        Ok(std::mem::take(&mut s.needs_new_thread).then_some(Pause::Elsewhere))
    }

    fn begin_search(&mut self) {
        let s = self.session();
        s.use_arenas(s.is_on_arenas());
    }

    fn progress(&mut self, _: &Explorer, total: &Stats, outlook: &dyn Fn(&Search) -> Outlook) {
        self.session().pulse.count(total.executions(), total.blocked);
        self.session().pulse.look(|| outlook(&self.session().search));
    }
}

impl Frontend for Handle {
    fn search(&mut self) -> &mut Search {
        &mut self.session().search
    }

    fn goes_round(&mut self, thread: ThreadId) {
        self.session().watching.threads.insert(thread);
        self.session().choose_paths(thread);
    }

    fn has_done_something(&mut self, thread: ThreadId) {
        self.session().watching.threads.remove(thread);
        self.session().choose_paths(thread);
    }

    fn shares_beside(&self) -> bool {
        let s = self.session();
        s.objects.races.are_shared() || s.locals.are_shared() || (!s.is_trial && s.hands_over())
    }

    /// What belongs to the state of a thread and is not in memory: what its clock has shown last, how many of its blocks
    /// are allocated, and how many thread-locals it has. What others have is none of that: when they come by it depends on
    /// the schedule. Rounds that free blocks of others are never idle.
    fn hidden(&mut self, thread: ThreadId) -> u64 {
        let arena = self.session().heap.arenas.get(thread.index()).and_then(Option::as_ref);
        let counts = [arena.map_or(0, |arena| arena.live as u64), self.session().locals.count(thread) as u64];
        let mix = |sum: u64, count| sum.wrapping_mul(31).wrapping_add(count);
        let clock = match self.session().limits.timeouts {
            Timeouts::Last => self.session().clocks.fingerprint(thread),
            _ => self.session().search.passing.seen(thread),
        };
        counts.into_iter().fold(clock, mix)
    }

    fn returns(function: usize) -> bool {
        trial::returns(function)
    }

    fn has_guessed_wrong(&self, waiters: &[Waiter]) -> bool {
        self.session().queues.has_guessed_wrong(waiters)
    }

    /// Whether the process has ended, or would have.
    fn has_ended(&self, waiters: &[Waiter]) -> bool {
        let main_ended = self.session().search.execution.graph().is_finished(ThreadId::MAIN);
        let needed = waiters.iter().any(|waiter| !self.session().detached.contains(&waiter.point.thread));
        ((self.session().limits.abandons || !needed) && main_ended)
            || waiters.iter().any(|waiter| waiter.wait == Wait::Exit)
    }

    /// In an execution that is given up, somebody might still have looked at a panic.
    fn failure(&self, over: bool) -> Option<Violation> {
        let panics = &self.session().panics;
        let unhandled = panics.iter().position(|panic| over && panic.is_unhandled());
        unhandled.map(|number| panics::violation(panics, number))
    }

    /// A process that ends takes with it what is left in threads that have not ended, and threads that nobody sees may have what
    /// is left.
    fn leak(&mut self) -> Option<Violation> {
        let s = self.session();
        if s.unseen.is_some() {
            return None;
        }
        let graph = s.search.execution.graph();
        let has_ended = |thread| graph.is_finished(ThreadId(thread as u32));
        let may_leak = s.has_blocks_left() && (0..graph.thread_count()).all(has_ended);
        may_leak.then(|| s.find_leak()).flatten()
    }

    /// The part may end before the last panic has left its thread.
    fn failure_in_part(&self) -> Option<Violation> {
        let panics = &self.session().panics;
        let unhandled = panics.iter().position(Panic::is_unhandled);
        let latest = || panics.len().checked_sub(1).filter(|&last| !panics[last].handled);
        unhandled.or_else(latest).map(|number| panics::violation(panics, number))
    }

    fn diverged(&mut self, divergence: &Divergence) -> Option<Error> {
        (!self.session().learn_from_divergence()).then(|| self.session().told_divergence(divergence))
    }
}
