//! Threads that wait: what for, who lets them go on, and what is left of a run that is ended early.

use std::ops::Range;

use super::Execution;
use crate::mutant::{self, Mutant};
use crate::op::{Addr, Kind, Op, Rmw, Site, TAKEN, ThreadId};
use crate::outcome::{Divergence, Outcome};
use crate::round::{self, Idle, Spare, Undone, Waiting};
use crate::violation::{Point, Violation, Wait, Waiter};

impl Execution {
    /// What keeps an op from being taken.
    #[inline(always)]
    pub(super) fn obstacle(&self, op: &Op) -> Option<Wait> {
        if op.kind == Kind::Read && op.rmw.may_wait() {
            let newest = self.graph.newest(op.addr);
            let wait = match op.rmw {
                Rmw::Await => Wait::Signal { addr: op.addr, timed: op.operand != 0 },
                _ => Wait::Lock { addr: op.addr, held_by: newest },
            };
            op.rmw.waits_on(self.graph.value(op.addr, newest)).then_some(wait)
        } else if op.kind == Kind::Join {
            let child = ThreadId(op.operand as u32);
            (!self.graph.is_finished(child)).then_some(Wait::Join(child))
        } else {
            None
        }
    }

    /// Brings up to date who holds the lock that a thread waits for.
    pub(super) fn refresh(&self, mut waiter: Waiter) -> Waiter {
        if let Wait::Lock { addr, held_by } = &mut waiter.wait {
            *held_by = self.graph.newest(*addr);
        }
        waiter
    }

    /// Lets those who wait for a lock or a signal at a location ask again, and maybe for something else.
    pub fn ask_again(&mut self, at: Addr) {
        for t in 0..self.progress.len() {
            let thread = ThreadId(t as u32);
            let waits = self.standing[t].blocked.is_some_and(|waiter| match waiter.wait {
                Wait::Lock { addr, .. } | Wait::Signal { addr, .. } => addr == at,
                _ => false,
            });
            if waits && self.blocked.contains(thread) {
                self.blocked.remove(thread);
                self.ready.set_op(thread, None);
                self.ready.insert(thread, true);
            }
        }
    }

    /// Says that threads may go on when nothing else can run: see [`Execution::let_go`].
    pub fn set_timers(&mut self, timers: bool) {
        self.timers = timers;
    }

    /// The threads that wait when no thread is named any more; `None` if the run was ended.
    pub fn waiters(&self) -> Option<Vec<Waiter>> {
        let waiter =
            |thread: ThreadId| self.standing[thread.index()].blocked.map(|waiter| self.refresh(waiter));
        let over = self.stop.is_some() || self.closing || !self.ready.is_empty();
        (!over).then(|| self.blocked.iter().filter_map(waiter).collect())
    }

    /// Lets a thread that waits go on without what it waits for.
    pub fn let_go(&mut self, thread: ThreadId) {
        self.blocked.remove(thread);
        self.watching.remove(thread);
        self.ready.set_op(thread, None);
        self.ready.insert(thread, true);
    }

    /// Lets those who wait for a change of a location look again.
    #[inline(always)]
    pub(super) fn wake_at(&mut self, at: Addr) {
        if !self.watching.is_empty() {
            self.wake_watching(at);
        }
    }

    fn wake_watching(&mut self, at: Addr) {
        self.wake(|execution, waiter| match waiter.wait {
            Wait::Lock { addr, .. } | Wait::Signal { addr, .. } => addr == at,
            Wait::Spin { from, .. } => {
                execution.looks_ahead && execution.has_read(waiter.point.thread, from, at)
            }
            _ => false,
        });
    }

    #[inline(never)]
    pub(super) fn wake(&mut self, freed: impl Fn(&Execution, &Waiter) -> bool) {
        if self.blocked.is_empty() {
            return;
        }
        let mut next = self.blocked.first();
        while let Some(thread) = next {
            next = self.blocked.after(thread);
            if let Some(waiter) = self.standing[thread.index()].blocked
                && freed(self, &waiter)
            {
                self.blocked.remove(thread);
                self.watching.remove(thread);
                self.undoing.remove(thread);
                let joins = matches!(waiter.wait, Wait::Join(_));
                if !self.looks_ahead {
                    self.ready.set_op(thread, None);
                } else if self.ready.op(thread).is_none() || (self.samples && joins) {
                    self.runnable.insert(thread);
                    continue;
                }
                self.ready.insert(thread, !joins);
            }
        }
    }

    /// Whether the thread has read the location, from this event on.
    fn has_read(&self, thread: ThreadId, from: u32, addr: Addr) -> bool {
        // If the graph has let go of some of its reads, any may be meant.
        from < self.graph.past_of(thread)
            || self.graph.since(thread, from).iter().any(|event| event.is_read() && event.addr == addr)
    }

    /// Stops a thread whose loop has come back to where it was at event `from` and has only read
    /// since, before `op` if that is known. `false`: the thread goes on at once, since it did so when
    /// this was recorded; or since a value that it has read was not the newest, and the strategy
    /// looks ahead; or since the round [matters](round::leaves_nothing).
    pub fn spin(&mut self, point: Point, op: Option<&Op>, from: u32) -> bool {
        self.stop_in_loop(point, op, &[from], 0)
    }

    /// The same of a thread that was in this state before several events, the latest first. A round that only reads is
    /// enough for it to stop; of rounds that write there must be [more](round::Spare).
    pub fn spin_since(&mut self, point: Point, op: Option<&Op>, earlier: &[u32]) -> bool {
        let spare = if self.looks_ahead { 0 } else { self.spare.rounds };
        self.stop_in_loop(point, op, earlier, spare)
    }

    fn stop_in_loop(&mut self, point: Point, op: Option<&Op>, earlier: &[u32], spare: usize) -> bool {
        let thread = point.thread;
        let repeats = !self.is_fresh(thread) || self.goes_on(thread);
        if repeats {
            return false;
        }
        let mut rounds = std::mem::take(&mut self.standing[thread.index()].rounds);
        let idle = round::idle(&self.graph, thread, point.index, earlier, &mut rounds);
        let from = rounds.first().map(|round| round.start);
        if let Idle::Writes(_) = idle {
            let undone = Undone::new(&self.graph, thread, point.site, &rounds);
            if undone.may_be_noticed() && !self.undone.contains(&undone) {
                self.undone.push(undone);
            }
        }
        self.standing[thread.index()].rounds = rounds;
        let enough = !matches!(idle, Idle::Writes(rounds) if rounds <= spare);
        let Some(from) = from.filter(|_| enough) else { return false };
        let since = earlier.last().map_or(from, |&first| first.min(from));
        let waiting = Waiting { thread, from, since };
        if self.looks_ahead && !self.is_up_to_date(waiting) {
            if self.strategy.drops_idle_rounds() {
                self.stop = Some(Outcome::Ended);
            }
            return self.stop.is_some();
        }
        if self.granted == Some(thread) {
            // It stops instead of moving, and is to be asked for again.
            self.granted = None;
        }
        self.ready.set_op(thread, op);
        self.block(thread, Waiter { point, wait: Wait::Spin { from, since } });
        if let Idle::Writes(_) = idle {
            self.undoing.insert(thread);
        }
        true
    }

    /// Whether the thread goes on in the execution that is followed, whatever its loop does.
    pub fn goes_on(&self, thread: ThreadId) -> bool {
        self.strategy.goes_on(&self.graph, thread)
    }

    /// Whether threads whose loops wait go on when what they wait for changes.
    #[inline(always)]
    pub fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// Whether all that the thread has read from this event on is what it would read now, and nobody else has written
    /// since to a location that it has changed and changed back, such as a lock.
    fn is_up_to_date(&self, waiting: Waiting) -> bool {
        let graph = &self.graph;
        waiting.events(graph).all(|(id, event)| {
            if event.is_free() {
                return false;
            }
            if !event.is_read() || (!event.rf.is_init() && waiting.has(event.rf)) {
                return true;
            }
            let (seen, newest) = (graph.read_value(id), graph.newest(event.addr));
            let changed = event.is_update() && event.value != seen;
            let taken = changed && newest != event.rf && newest.thread != waiting.thread;
            seen == graph.value(event.addr, newest) && !taken
        })
    }

    /// Lets threads go on that wait in loops which write to a location, if the event that another thread has just had
    /// there makes their last rounds matter.
    #[inline(never)]
    pub(super) fn wake_disturbed(&mut self, by: ThreadId, addr: Addr) {
        let matter = |execution: &Execution, thread: ThreadId| {
            let graph = &execution.graph;
            let matters = |round: &Range<u32>| {
                round::writes_to(graph, thread, round, addr)
                    && !round::leaves_nothing(graph, thread, round.clone())
            };
            execution.standing[thread.index()].rounds.iter().any(matters)
        };
        let spins = |waiter: &Waiter| matches!(waiter.wait, Wait::Spin { .. }) && waiter.point.thread != by;
        self.wake(|execution, waiter| spins(waiter) && matter(execution, waiter.point.thread));
    }

    /// Notes who has accessed what in this run and not before, for [`Execution::wanted_spare`].
    #[inline]
    pub fn note_accesses(&mut self) {
        for (index, run) in self.progress.iter().enumerate().take(self.graph.thread_count()) {
            let thread = ThreadId(index as u32);
            let new = self.graph.since(thread, run.recorded);
            self.touched.note(&self.graph, thread, new);
        }
    }

    /// With how many spare rounds the search must start over, if this graph shows that it must; and where the thread
    /// was that has the most.
    pub fn wanted_spare(&mut self) -> Option<(Spare, Site)> {
        let searches = !self.looks_ahead && !self.strategy.follows();
        if !searches || self.undone.is_empty() || mutant::is(Mutant::NoSpareRounds) {
            return None;
        }
        let noticed = self.undone.iter().map(|undone| {
            let waiter = self.standing.get(undone.thread.index()).and_then(|rest| rest.blocked);
            let stopped = self.blocked.contains(undone.thread)
                && waiter.is_some_and(|waiter| waiter.point.site == undone.site);
            (undone.noticed(&self.graph, stopped), undone.site)
        });
        let (rounds, site) = noticed.max_by_key(|(rounds, _)| *rounds)?;
        // Earlier graphs were not looked at for places that have turned up since.
        let mut new = self.undone[self.looked_for..].iter();
        let grows = rounds > self.spare.rounds || new.any(|undone| undone.is_touched(&self.touched));
        self.looked_for = self.undone.len();
        let rounds = rounds.max(self.spare.rounds);
        grows.then(|| (Spare { rounds, undone: self.undone.clone() }, site))
    }

    /// Ends the run if the thread gives back a lock that it does not hold.
    #[inline(never)]
    pub(super) fn check_unlock(&mut self, thread: ThreadId, op: &Op) -> Option<()> {
        let newest = self.graph.newest(op.addr);
        let problem = if self.graph.value(op.addr, newest) != TAKEN {
            String::from("a lock is given back that nobody holds")
        } else if newest.thread != thread {
            format!("a lock is given back by {thread} that {} holds", newest.thread)
        } else {
            return Some(());
        };
        let point = Point { thread, index: self.progress[thread.index()].pc, site: op.site };
        self.fail(Violation { kind: crate::violation::Kind::BadUnlock { problem }, point });
        None
    }

    /// Ends the run: the strategy asks for a thread that could move here when it last came by.
    #[cold]
    pub(super) fn go_astray(&mut self, thread: ThreadId) -> Option<ThreadId> {
        let now = self.ready.op(thread).copied();
        self.stop = Some(Outcome::Diverged(Box::new(Divergence { thread, before: None, now })));
        None
    }

    /// Ends a run that the strategy has ended, if it is not over for another reason.
    pub(super) fn close_unless_stopped(&mut self) -> Option<ThreadId> {
        if self.stop.is_some() { None } else { self.close() }
    }

    /// Ends a run that the strategy has ended: threads whose op is not known yet are asked for it,
    /// and if none of the others could take theirs, they are blocked.
    pub(super) fn close(&mut self) -> Option<ThreadId> {
        self.closing = true;
        let unknown = self.unknown();
        // A bad unlock is a violation whenever it comes.
        for thread in self.ready.others.iter().collect::<Vec<_>>() {
            if let Some(&op) = self.ready.op(thread)
                && op.kind == Kind::Write
                && op.rmw == Rmw::Lock
            {
                self.check_unlock(thread, &op)?;
            }
        }
        if let Some(thread) = unknown {
            self.ready.remove(thread);
            self.runnable.insert(thread);
        } else if self.ready.threads().all(|thread| self.is_held_up(thread)) {
            self.block_obstructed();
        } else {
            self.stop = Some(Outcome::Ended);
        }
        unknown
    }

    /// A ready thread whose op is not known.
    #[inline(always)]
    pub(super) fn unknown(&self) -> Option<ThreadId> {
        self.ready.unknown.first()
    }

    /// Whether a ready thread cannot take its op.
    fn is_held_up(&self, thread: ThreadId) -> bool {
        self.ready.op(thread).is_some_and(|op| self.obstacle(op).is_some())
    }

    /// Blocks the threads that are said to be ready but cannot take their op.
    #[inline(always)]
    pub(super) fn block_obstructed(&mut self) {
        if !self.ready.doubtful.is_empty() {
            self.block_doubtful();
        }
    }

    #[inline(never)]
    fn block_doubtful(&mut self) {
        let mut next = self.ready.doubtful.first();
        while let Some(thread) = next {
            next = self.ready.doubtful.after(thread);
            if let Some(op) = self.ready.op(thread)
                && let Some(wait) = self.obstacle(op)
            {
                let point = Point { thread, index: self.progress[thread.index()].pc, site: op.site };
                self.ready.remove(thread);
                self.block(thread, Waiter { point, wait });
            }
        }
    }
}

/// Whether a thread that is blocked stands before an op which waits for a value.
pub(super) fn is_for_value(wait: &Wait, op: &Op) -> bool {
    matches!(wait, Wait::Lock { .. } | Wait::Signal { .. }) && op.rmw.may_wait()
}
