//! Threads that are late: they have had an op, and do not run on to their next one yet.
//!
//! What a thread does in memory between two ops is in no graph, and the order in which threads do it decides what
//! happens to it. As a rule a thread runs on from each op to the next. Here it stops right behind its op, until a moment of
//! another thread has passed: all that must come before the moment has, and nothing else.
//!
//! [`Execution::begin_again`] repeats a whole execution in this way, moment after moment. A strategy that follows a schedule
//! may ask for it as well ([`Strategy::moment`](crate::strategy::Strategy::moment)).

use super::Execution;
use crate::event::EventId;
use crate::graph::Graph;
use crate::op::{Kind, ThreadId};
use crate::outcome::{Divergence, Outcome};
use crate::schedule::Moment;
use crate::thread_set::ThreadSet;

/// What a thread does between two ops, and all events that come before it by `po ∪ rf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The thread.
    pub thread: ThreadId,
    /// How many events of each thread come before.
    pub lens: Vec<u32>,
}

impl Turn {
    /// What a thread does after its first `index` events.
    pub fn new(graph: &Graph, thread: ThreadId, index: u32) -> Turn {
        let last = match index.checked_sub(1) {
            Some(last) => Some(EventId { thread, index: last }),
            None => graph.spawn_of(thread),
        };
        Turn { thread, lens: graph.closure(last.as_slice()) }
    }

    /// How many events of a thread come before.
    pub fn len_of(&self, thread: ThreadId) -> u32 {
        self.lens.get(thread.index()).copied().unwrap_or(0)
    }
}

/// Who is late, and until when.
#[derive(Debug, Default)]
pub(super) struct Late {
    until: Until,
    held: ThreadSet,
}

#[derive(Debug, Default)]
enum Until {
    /// Nobody is.
    #[default]
    Never,
    /// The turns that a repetition takes, the one whose turn it is now, and whether the run ends with that.
    Turns(Vec<Turn>, usize),
    /// A moment of the schedule that is followed.
    Moment(Moment),
}

impl Execution {
    /// Starts a run that repeats what is recorded, and nothing else: each turn in its order, as early as can be, and the rest
    /// after them.
    pub fn begin_again(&mut self, turns: &[Turn]) {
        self.stats.again += 1;
        self.begin();
        self.late.until = Until::Turns(turns.to_vec(), 0);
        self.limit_to_turn();
    }

    /// How the run ended that repeats: nothing, if it has come to its end.
    pub fn end_again(&mut self) -> Option<Outcome> {
        let open = |(t, run): (usize, &super::Progress)| {
            (run.pc < run.recorded).then(|| {
                let thread = ThreadId(t as u32);
                let before = self.graph.thread(thread).get(run.pc as usize).copied();
                Outcome::Diverged(Box::new(Divergence { thread, before, now: None }))
            })
        };
        self.stop.take().or_else(|| self.progress.iter().enumerate().find_map(open))
    }

    /// Whether what is recorded is repeated turn by turn.
    #[inline(always)]
    pub(super) fn takes_turns(&self) -> bool {
        matches!(self.late.until, Until::Turns(..))
    }

    /// Whether what is recorded is repeated in the order in which it took effect.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    /// The thread has no new op in this run.
    #[cold]
    pub(super) fn stay(&mut self, thread: ThreadId) -> Option<crate::op::Value> {
        if self.takes_turns() {
            self.runnable.remove(thread);
        }
        None
    }

    pub(super) fn begin_late(&mut self) {
        self.late.held.clear();
        self.late.until = self.strategy.moment().map_or(Until::Never, Until::Moment);
    }

    /// Stops a thread that has just had an op, if it is to be late: it is to be left then, and runs on when it is named.
    #[inline]
    pub fn stops_behind(&mut self, thread: ThreadId) -> bool {
        let late = match &self.late.until {
            Until::Never => false,
            Until::Turns(turns, at) => {
                let run = &self.progress[thread.index()];
                run.pc == run.free && turns.get(*at).is_some_and(|turn| turn.thread != thread)
            }
            Until::Moment(_) => true,
        };
        if late && self.stop.is_none() && !self.has_just_ended(thread) {
            self.runnable.remove(thread);
            self.late.held.insert(thread);
            return true;
        }
        false
    }

    fn has_just_ended(&self, thread: ThreadId) -> bool {
        let last = self.progress[thread.index()].pc.checked_sub(1);
        let event = last.and_then(|index| self.graph.kept_event(EventId { thread, index }));
        event.is_some_and(|event| event.kind == Kind::Finish)
    }

    /// Stops a thread that has just been spawned, if it is to be late.
    #[inline]
    pub fn stops_child(&mut self, child: ThreadId) {
        let late = match &self.late.until {
            Until::Never => false,
            Until::Turns(turns, at) => turns
                .get(*at)
                .is_some_and(|turn| turn.thread != child && self.progress[child.index()].free == 0),
            Until::Moment(_) => true,
        };
        if late {
            self.runnable.remove(child);
            self.late.held.insert(child);
        }
    }

    /// Stops a thread before an op that is not for this turn.
    #[cold]
    pub(super) fn hold(&mut self, thread: ThreadId) {
        self.runnable.remove(thread);
        self.late.held.insert(thread);
    }

    /// Who is late no more, when all others have stopped: a thread to run next.
    #[inline(always)]
    pub(super) fn next_late(&mut self) -> Option<ThreadId> {
        if matches!(self.late.until, Until::Never) { None } else { self.release() }
    }

    #[inline(never)]
    fn release(&mut self) -> Option<ThreadId> {
        match self.late.until {
            Until::Never => None,
            Until::Turns(..) => self.release_turn(),
            Until::Moment(moment) => self.release_before(moment),
        }
    }

    fn release_turn(&mut self) -> Option<ThreadId> {
        // One that waits for another goes astray, if that cannot go on.
        while self.waiting.is_empty() && self.runnable.is_empty() {
            let Until::Turns(turns, at) = &mut self.late.until else { return None };
            if *at >= turns.len() {
                return None;
            }
            *at += 1;
            let now = turns.get(*at).map(|turn| turn.thread);
            self.limit_to_turn();
            for thread in std::mem::take(&mut self.late.held).iter() {
                let run = &self.progress[thread.index()];
                if now.is_none_or(|now| now == thread) || run.pc < run.free {
                    self.runnable.insert(thread);
                } else {
                    self.late.held.insert(thread);
                }
            }
        }
        self.runnable.first()
    }

    /// Lets threads repeat what comes before the turn, or all if it was the last one.
    fn limit_to_turn(&mut self) {
        let Until::Turns(turns, at) = &self.late.until else { return };
        for (t, run) in self.progress.iter_mut().enumerate() {
            let most = turns.get(*at).map_or(run.recorded, |turn| turn.len_of(ThreadId(t as u32)));
            run.free = most.min(run.recorded).max(run.pc);
        }
    }

    fn release_before(&mut self, moment: Moment) -> Option<ThreadId> {
        let done = self.graph.total();
        if done < moment.steps as usize
            && let Some(next) =
                self.strategy.next_thread(&self.graph).filter(|next| self.late.held.contains(*next))
        {
            self.late.held.remove(next);
            self.runnable.insert(next);
            return Some(next);
        }
        if done < moment.steps as usize {
            return None;
        }
        if self.late.held.contains(moment.thread) {
            self.late.held.remove(moment.thread);
            self.runnable.insert(moment.thread);
            return Some(moment.thread);
        }
        self.late.until = Until::Never;
        let held = std::mem::take(&mut self.late.held);
        self.runnable.insert_all(&held);
        self.runnable.first()
    }
}
