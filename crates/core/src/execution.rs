//! One execution at a time: a passive object that front-ends drive.
//!
//! A front-end calls [`Execution::begin`], then lets threads run. Whenever a thread reaches an
//! op it calls [`Execution::op`]; the answer is the op's value, or that the thread must stop here
//! while others run, and try the same op again when [`Execution::next_thread`] names it. When no
//! thread is named the run is over, and [`Execution::end`] says how it ended;
//! [`Execution::advance`] prepares the next one.
//!
//! A run starts by replaying the graph that it was given: each thread repeats its recorded
//! events, in an order that extends `po ∪ rf`, so that plain memory is as it was. When all
//! threads have come to the end of what is recorded, the strategy takes over, and new events are
//! added. Replayed ops are compared with what was recorded: a program that does something else
//! is not deterministic, and that is an error of its author.
//!
//! A thread's id depends only on its parent and on how many threads the parent spawned before,
//! so that an event has the same name in every execution.

mod audit;
mod late;
mod limit;
mod replaying;
mod sampling;
mod waiting;

use std::ops::Range;

use crate::event::{Event, EventId};
use crate::graph::Graph;
use crate::memory::MemoryModel;
use crate::op::{Addr, Kind, Op, Rmw, ThreadId, Value};
use crate::round::{Spare, Touched, Undone};
use crate::stats::Stats;
use crate::strategy::{LockWaiter, Ready, Scene, Strategy};
use crate::thread_set::ThreadSet;
use crate::violation::{Point, Violation, Wait, Waiter};

pub use crate::outcome::{Divergence, Outcome};
pub use late::Turn;

/// What becomes of an op that may repeat what was recorded.
#[derive(Clone, Copy, Debug)]
pub enum Repeat {
    /// It does, and this is its value.
    Done(Value),
    /// It does, once this event has been repeated: see [`Execution::wait_for`].
    After(EventId),
    /// [`Execution::op`] is to be called.
    No,
}

/// How far a thread is in this run.
#[derive(Debug, Default)]
struct Progress {
    /// Events so far in this run.
    pc: u32,
    /// Events that were recorded before this run.
    recorded: u32,
    /// Those of them that the thread may repeat without being asked to.
    free: u32,
    /// Threads spawned so far.
    spawned: u32,
    started: bool,
}

/// What a thread waits for, and what it knows; valid only while one of the sets holds it.
#[derive(Debug, Default)]
struct Standing {
    waits_for: Option<EventId>,
    blocked: Option<Waiter>,
    /// The rounds that let it stop in a loop, the last one first.
    rounds: Vec<Range<u32>>,
    /// What the thread knew at `viewed`: a run, and a number of events.
    view: Vec<u32>,
    viewed: (u64, u32),
}

/// The state of the current run, and what outlasts it.
pub struct Execution {
    graph: Graph,
    model: Box<dyn MemoryModel>,
    strategy: Box<dyn Strategy>,
    progress: Vec<Progress>,
    standing: Vec<Standing>,
    /// Threads that can run without a decision.
    runnable: ThreadSet,
    /// Threads whose replay waits for another thread's.
    waiting: ThreadSet,
    /// Threads whose replay another one waits for, and maybe more.
    awaited: ThreadSet,
    /// Who was last named to run.
    named: Option<ThreadId>,
    /// Threads that wait for a lock, a thread, or for ever.
    blocked: ThreadSet,
    /// Those of them that may go on when memory changes, and maybe others.
    watching: ThreadSet,
    /// Those of them that wait in loops which write, and maybe others.
    undoing: ThreadSet,
    ready: Ready,
    granted: Option<ThreadId>,
    /// Whether the strategy has ended the run, and it is only looked who is blocked.
    closing: bool,
    /// Ids of the threads that each thread spawns, in order.
    children: Vec<Vec<ThreadId>>,
    known_threads: u32,
    number: u64,
    spare_waiters: Vec<Waiter>,
    for_locks: Vec<LockWaiter>,
    stop: Option<Outcome>,
    /// Whether the run that has ended is not one of those that the search is after.
    beyond: bool,
    stats: Stats,
    max_events: usize,
    /// The events of this run that the limit leaves out of account.
    uncounted: usize,
    /// So many events before the first thread is started the limit may leave out of account.
    max_alone: usize,
    stable_addresses: bool,
    looks_ahead: bool,
    samples: bool,
    compares_ops: bool,
    /// Whether what was recorded is repeated in the order in which it took effect.
    keeps_order: bool,
    /// How much of it has been, or is about to be, if so.
    repeated: usize,
    /// Whether threads may go on when nothing else can run.
    timers: bool,
    /// How many rounds that write a thread may have behind it which nobody has noticed, and what that was found from.
    spare: Spare,
    /// Where threads have made rounds that write and leave nothing behind, in any run.
    undone: Vec<Undone>,
    /// How many of these all graphs of the search were looked at for.
    looked_for: usize,
    /// Who has accessed what in any run.
    touched: Touched,
    /// Threads that do not run on from their op to the next.
    late: late::Late,
}

impl Execution {
    /// An execution of a program yet unknown.
    pub fn new(model: Box<dyn MemoryModel>, strategy: Box<dyn Strategy>, max_events: usize) -> Execution {
        let mut graph = Graph::new(model.synchronisation());
        if strategy.samples() {
            graph.leave_out_porf();
        }
        Execution {
            graph,
            looks_ahead: strategy.looks_ahead(),
            samples: strategy.samples(),
            compares_ops: strategy.compares_ops(),
            keeps_order: strategy.keeps_order(),
            repeated: 0,
            model,
            strategy,
            progress: Vec::new(),
            standing: Vec::new(),
            runnable: ThreadSet::new(),
            waiting: ThreadSet::new(),
            awaited: ThreadSet::new(),
            named: None,
            blocked: ThreadSet::new(),
            watching: ThreadSet::new(),
            undoing: ThreadSet::new(),
            ready: Ready::default(),
            granted: None,
            closing: false,
            children: vec![Vec::new()],
            known_threads: 1,
            number: 0,
            spare_waiters: Vec::new(),
            for_locks: Vec::new(),
            stop: None,
            beyond: false,
            stats: Stats::default(),
            max_events,
            uncounted: 0,
            max_alone: 0,
            stable_addresses: true,
            timers: false,
            spare: Spare::default(),
            undone: Vec::new(),
            looked_for: 0,
            touched: Touched::default(),
            late: late::Late::default(),
        }
    }

    /// Says how many rounds that write a thread may have behind it which nobody has noticed, for a whole search.
    pub fn set_spare(&mut self, spare: &Spare) {
        if self.spare != *spare {
            self.spare.clone_from(spare);
            self.undone.clone_from(&spare.undone);
            self.looked_for = self.undone.len();
        }
    }

    /// The graph so far.
    #[inline(always)]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The graph, for front-ends that give locations numbers of their own.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// The memory model.
    pub fn model(&self) -> &dyn MemoryModel {
        &*self.model
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Whether the strategy draws executions at random.
    #[inline(always)]
    pub fn samples(&self) -> bool {
        self.samples
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    // ---------------------------------------------------------------- a run

    /// Starts a run: the main thread is about to begin.
    pub fn begin(&mut self) {
        self.graph.trim_locations();
        self.number += 1;
        self.stats.runs += 1;
        self.stop = None;
        self.granted = None;
        self.closing = false;
        self.beyond = false;
        self.uncounted = 0;
        self.runnable.clear();
        self.waiting.clear();
        self.awaited.clear();
        self.named = None;
        self.blocked.clear();
        self.watching.clear();
        self.undoing.clear();
        self.ready.clear();
        self.make_room(self.graph.thread_count());
        let recorded = self.graph.thread_lens().chain(std::iter::repeat(0));
        for (run, recorded) in self.progress.iter_mut().zip(recorded) {
            let free = if self.keeps_order { 0 } else { recorded };
            *run = Progress { recorded, free, ..Progress::default() };
        }
        self.repeated = 0;
        self.begin_late();
        self.activate(ThreadId::MAIN);
    }

    /// The thread that must run now; `None` when the run is over.
    #[inline]
    pub fn next_thread(&mut self) -> Option<ThreadId> {
        self.named = self.name_thread();
        self.named
    }

    #[inline(always)]
    fn name_thread(&mut self) -> Option<ThreadId> {
        if self.stop.is_some() {
            return None;
        }
        if self.named.is_some_and(|thread| self.awaited.contains(thread)) {
            self.wake_replays();
        }
        if let Some(thread) = self.runnable.first() {
            return Some(thread);
        }
        if let Some(thread) = self.next_late() {
            return Some(thread);
        }
        if self.keeps_order
            && let Some(thread) = self.whose_turn()
        {
            self.waiting.remove(thread);
            self.runnable.insert(thread);
            return Some(thread);
        }
        if let Some(thread) = self.waiting.first() {
            let before = self.graph.thread(thread).get(self.progress[thread.index()].pc as usize).copied();
            self.stop = Some(Outcome::Diverged(Box::new(Divergence { thread, before, now: None })));
            return None;
        }
        if self.takes_turns() {
            return None;
        }
        if self.looks_ahead {
            if let Some(thread) = self.unknown() {
                self.ready.remove(thread);
                self.runnable.insert(thread);
                return Some(thread);
            }
            self.block_obstructed();
        } else if self.timers {
            self.block_obstructed();
        }
        if self.ready.is_empty() {
            return None;
        }
        if self.closing { self.close() } else { self.decide().or_else(|| self.close_unless_stopped()) }
    }

    /// Asks the strategy who moves.
    #[inline(always)]
    fn decide(&mut self) -> Option<ThreadId> {
        let thread = self.strategy.pick(&self.graph, &self.ready)?;
        if !self.ready.contains(thread) {
            return self.go_astray(thread);
        }
        self.ready.remove(thread);
        self.granted = Some(thread);
        self.runnable.insert(thread);
        Some(thread)
    }

    /// Takes one op of a thread. `None`: stop the thread here, and call again with the same op
    /// when it is next named.
    #[inline(always)]
    pub fn op(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        let run = &self.progress[thread.index()];
        if run.pc < run.recorded {
            self.replay(thread, op)
        } else if self.samples {
            self.sample(thread, op)
        } else {
            self.fresh(thread, op)
        }
    }

    /// The location of an object that has none yet in this run: the recorded one, or a new one.
    /// `None` as in [`Execution::op`].
    #[inline]
    pub fn bind(&mut self, thread: ThreadId, init: Value, reads: bool) -> Option<Addr> {
        if !self.is_fresh(thread) {
            let addr = self.bind_again(thread, init);
            if addr.is_none() {
                self.diverge(thread, None);
            }
            addr
        } else if self.is_settled(thread) || (self.looks_ahead && !self.is_repeating()) {
            Some(self.graph.add_location(init))
        } else {
            self.park(thread, reads, None);
            None
        }
    }

    /// The recorded location of an object that has none yet in this run, if there is one.
    #[inline(always)]
    pub fn bind_again(&mut self, thread: ThreadId, init: Value) -> Option<Addr> {
        let run = &self.progress[thread.index()];
        if run.pc >= run.recorded {
            return None;
        }
        let addr = self.graph.event(EventId { thread, index: run.pc }).addr;
        if addr == Addr::NONE {
            return None;
        }
        self.graph.set_init(addr, init);
        Some(addr)
    }

    /// Whether the thread is past what was recorded.
    #[inline(always)]
    pub fn is_fresh(&self, thread: ThreadId) -> bool {
        let run = &self.progress[thread.index()];
        run.pc >= run.recorded
    }

    /// How many events the thread has had in this run.
    #[inline(always)]
    pub fn position(&self, thread: ThreadId) -> u32 {
        self.progress[thread.index()].pc
    }

    /// What the thread knows now: a clock of what happens before its next event.
    #[inline]
    pub fn view(&mut self, thread: ThreadId) -> &[u32] {
        let now = (self.number, self.progress[thread.index()].pc);
        let rest = &mut self.standing[thread.index()];
        if rest.viewed != now {
            self.graph.view_into(thread, now.1 as usize, &mut rest.view);
            rest.viewed = now;
        }
        &rest.view
    }

    /// The oldest value that the thread could read from a location now.
    pub fn oldest_value(&mut self, thread: ThreadId, addr: Addr) -> Value {
        self.view(thread);
        let view = &self.standing[thread.index()].view;
        self.graph.value(addr, self.graph.write_at(addr, self.graph.floor(addr, view)))
    }

    /// Whether every other thread has ended, as far as this one knows, and it knows of all.
    pub fn is_alone(&mut self, thread: ThreadId) -> bool {
        self.view(thread);
        let view = &self.standing[thread.index()].view;
        self.progress.iter().enumerate().all(|(t, run)| {
            let other = ThreadId(t as u32);
            let len = self.graph.thread_len(other) as u32;
            let known = view.get(t).copied().unwrap_or(0) >= len;
            other == thread || !run.started || (run.pc == len && known && self.graph.is_finished(other))
        })
    }

    /// The next event of a thread, if it repeats what was recorded.
    pub fn recorded(&self, thread: ThreadId) -> Option<&Event> {
        let run = &self.progress[thread.index()];
        (run.pc < run.recorded).then(|| self.graph.event(EventId { thread, index: run.pc }))
    }

    /// The op before which a thread stands that does not run, if it is known.
    pub fn pending(&self, thread: ThreadId) -> Option<&Op> {
        let rest = self.standing.get(thread.index())?;
        let parked = self.ready.contains(thread);
        let held_up = self.blocked.contains(thread)
            && rest.blocked.is_some_and(|w| matches!(w.wait, Wait::Lock { .. } | Wait::Signal { .. }));
        self.ready.op(thread).filter(|_| parked || held_up)
    }

    /// Stops a thread for ever.
    pub fn block(&mut self, thread: ThreadId, waiter: Waiter) {
        self.runnable.remove(thread);
        self.blocked.insert(thread);
        if !matches!(waiter.wait, Wait::Join(_)) {
            self.watching.insert(thread);
        }
        self.standing[thread.index()].blocked = Some(waiter);
    }

    /// Ends the run with a violation.
    pub fn fail(&mut self, violation: Violation) {
        self.stop.get_or_insert_with(|| Outcome::Violated(Box::new(violation)));
    }

    /// Ends the run, to start it once more.
    pub fn request_rerun(&mut self) {
        self.stop.get_or_insert(Outcome::Rerun);
    }

    /// Whether the run has been ended before its time.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether the run that has just ended is not one of those that the search is after, but was met on
    /// the way to them: its violations are as real, but it is counted apart.
    pub fn is_beyond(&self) -> bool {
        self.beyond
    }

    /// Says how the run ended.
    pub fn end(&mut self) -> Outcome {
        self.stats.replayed +=
            self.progress.iter().map(|run| u64::from(run.pc.min(run.recorded))).sum::<u64>();
        if let Some(outcome) = self.stop.take() {
            return outcome;
        }
        for (t, run) in self.progress.iter().enumerate() {
            if run.started && run.pc < run.recorded {
                let thread = ThreadId(t as u32);
                let before = self.graph.thread(thread).get(run.pc as usize).copied();
                return Outcome::Diverged(Box::new(Divergence { thread, before, now: None }));
            }
        }
        debug_assert!(self.is_at_rest(), "an execution ends, and a thread is nowhere");
        self.audit();
        if self.blocked.is_empty() {
            let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
            self.beyond = !self.strategy.counts(scene, &[]);
            return Outcome::Complete;
        }
        let mut waiters = std::mem::take(&mut self.spare_waiters);
        let mut for_locks = std::mem::take(&mut self.for_locks);
        waiters.clear();
        for_locks.clear();
        for thread in self.blocked.iter() {
            let Some(waiter) = self.standing[thread.index()].blocked.map(|waiter| self.refresh(waiter))
            else {
                continue;
            };
            if let Some(op) =
                self.ready.op(thread).copied().filter(|op| waiting::is_for_value(&waiter.wait, op))
            {
                let Op { addr, rmw, failure, expected: also, site, .. } = op;
                let timed = op.operand != 0;
                for_locks.push(LockWaiter { thread, addr, rmw, failure, timed, also, site });
            }
            waiters.push(waiter);
        }
        let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
        self.beyond = !self.strategy.counts(scene, &for_locks);
        let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
        self.strategy.stuck(scene, &for_locks);
        self.for_locks = for_locks;
        Outcome::Blocked(waiters)
    }

    /// Takes back what an outcome holds, to be used again.
    pub fn recycle(&mut self, outcome: Outcome) {
        if let Outcome::Blocked(waiters) = outcome {
            self.spare_waiters = waiters;
        }
    }

    /// Counts how a run ended.
    pub fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Complete | Outcome::Blocked(_) if self.beyond => self.stats.beyond += 1,
            Outcome::Complete => self.stats.complete += 1,
            Outcome::Blocked(_) => self.stats.blocked += 1,
            Outcome::Violated(_) => self.stats.violated += 1,
            Outcome::Cut(_) => self.stats.cut += 1,
            Outcome::Ended | Outcome::Diverged(_) | Outcome::Rerun => {}
        }
    }

    /// Prepares the same run once more.
    pub fn prepare_rerun(&mut self) {
        let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
        self.strategy.prepare_rerun(scene);
    }

    /// Prepares the next run; `false` when all is explored.
    pub fn advance(&mut self) -> bool {
        let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
        let more = self.strategy.next(scene);
        self.audit_next(more)
    }

    // ---------------------------------------------------------------- new events

    /// Whether every other thread stands before its next op, or will never go on.
    #[inline(always)]
    fn is_settled(&self, thread: ThreadId) -> bool {
        self.runnable.is_within(thread) && self.waiting.is_empty()
    }

    /// Whether some thread has yet to repeat what was recorded.
    fn is_repeating(&self) -> bool {
        self.progress.iter().any(|run| run.pc < run.recorded)
    }

    #[inline(never)]
    fn fresh(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        if self.stop.is_some() || self.takes_turns() {
            return self.stay(thread);
        }
        let reads = op.kind == Kind::Read;
        if !self.is_settled(thread) {
            return self.park(thread, reads, Some(op));
        }
        if let Some(wait) = self.obstacle(op) {
            let point = Point { thread, index: self.progress[thread.index()].pc, site: op.site };
            self.ready.set_op(thread, Some(op));
            self.block(thread, Waiter { point, wait });
            return None;
        }
        if self.closing {
            return self.park(thread, reads, Some(op));
        }
        if self.granted == Some(thread) {
            self.granted = None;
        } else if self.looks_ahead {
            // All threads stand before their ops: the decision needs no switch.
            self.park(thread, reads, Some(op));
            if !self.ready.unknown.is_empty() {
                return None;
            }
            self.block_obstructed();
            if self.decide() != Some(thread) {
                return None;
            }
            self.granted = None;
        } else if !self.strategy.admits(thread, reads, &self.ready) {
            return self.park(thread, reads, Some(op));
        }
        if op.kind == Kind::Write && op.rmw == Rmw::Lock {
            self.check_unlock(thread, op)?;
        }
        self.perform_within(op.kind, thread, op)
    }

    /// Adds the event of an op of this kind, if the limit allows one more.
    #[inline(always)]
    fn perform_within(&mut self, kind: Kind, thread: ThreadId, op: &Op) -> Option<Value> {
        if self.is_full() {
            let point = Point { thread, index: self.progress[thread.index()].pc, site: op.site };
            self.stop = Some(Outcome::Cut(point));
            return None;
        }
        let value = self.perform(kind, thread, op);
        self.stats.fresh += 1;
        self.progress[thread.index()].pc += 1;
        Some(value)
    }

    #[inline(always)]
    fn perform(&mut self, kind: Kind, thread: ThreadId, op: &Op) -> Value {
        match kind {
            Kind::Read => {
                let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
                let seen = self.strategy.read(scene, thread, op);
                if op.rmw == Rmw::Post || (self.looks_ahead && seen.changed) {
                    self.wake_at(op.addr);
                }
                if !self.undoing.is_empty() {
                    self.wake_disturbed(thread, op.addr);
                }
                seen.value
            }
            Kind::Write => {
                let watched = self.looks_ahead && !self.watching.is_empty();
                let changes = watched && op.operand != self.graph.value(op.addr, self.graph.newest(op.addr));
                let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
                self.strategy.write(scene, thread, op);
                if op.rmw == Rmw::Lock || changes {
                    self.wake_at(op.addr);
                }
                if !self.undoing.is_empty() {
                    self.wake_disturbed(thread, op.addr);
                }
                0
            }
            Kind::Choice => {
                let scene = Scene { graph: &mut self.graph, model: &mut *self.model };
                let choice = self.strategy.choose(scene, thread, op);
                self.graph.event(choice).value
            }
            Kind::Spawn => {
                let child = self.child_of(thread);
                self.graph.add_spawn(thread, child, op.site);
                self.activate(child);
                child.0.into()
            }
            Kind::Finish => {
                self.graph.add_finish(thread);
                self.runnable.remove(thread);
                self.wake(|_, waiter| waiter.wait == Wait::Join(thread));
                0
            }
            Kind::Join => {
                self.graph.add_join(thread, ThreadId(op.operand as u32), op.site);
                0
            }
            Kind::Fence => {
                self.graph.add(thread, op);
                0
            }
        }
    }

    #[inline(always)]
    fn park(&mut self, thread: ThreadId, reads: bool, op: Option<&Op>) -> Option<Value> {
        self.ready.set_op(thread, op);
        self.runnable.remove(thread);
        self.ready.insert(thread, reads);
        None
    }

    #[inline(always)]
    fn activate(&mut self, thread: ThreadId) {
        self.make_room(thread.index() + 1);
        self.progress[thread.index()].started = true;
        self.runnable.insert(thread);
    }

    #[inline(always)]
    fn make_room(&mut self, threads: usize) {
        if self.progress.len() < threads {
            self.progress.resize_with(threads, Progress::default);
            self.standing.resize_with(threads, Standing::default);
            self.ready.make_room(threads);
        }
    }

    fn child_of(&mut self, parent: ThreadId) -> ThreadId {
        let nth = self.progress[parent.index()].spawned as usize;
        self.progress[parent.index()].spawned += 1;
        let children = &mut self.children[parent.index()];
        if nth == children.len() {
            children.push(ThreadId(self.known_threads));
            self.known_threads += 1;
            self.children.push(Vec::new());
        }
        self.children[parent.index()][nth]
    }
}
