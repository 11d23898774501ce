//! Strategies: which thread moves, what a read sees, where a write goes, and what comes next.

use crate::coverage::Coverage;
use crate::event::EventId;
use crate::graph::Graph;
use crate::memory::MemoryModel;
use crate::op::{Addr, Kind, Mode, Op, Rmw, Site, ThreadId, Value};
use crate::schedule::Moment;
use crate::thread_set::ThreadSet;

/// The threads that stand before an op which they could take.
#[derive(Debug, Default)]
pub struct Ready {
    /// Those whose op reads memory.
    pub reads: ThreadSet,
    /// All others.
    pub others: ThreadSet,
    ops: Vec<Option<Op>>,
    /// Those whose op is not known.
    pub(crate) unknown: ThreadSet,
    /// Those whose op may have to wait.
    pub(crate) doubtful: ThreadSet,
}

impl Ready {
    /// The op before which a thread stands, ready or not, if it is known. A strategy that
    /// [looks ahead](Strategy::looks_ahead) finds the op of every thread that has not ended.
    #[inline(always)]
    pub fn op(&self, thread: ThreadId) -> Option<&Op> {
        self.ops.get(thread.index())?.as_ref()
    }

    /// All that are ready, in the order of their ids within each of the two kinds.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + Clone {
        self.others.iter().chain(self.reads.iter())
    }

    /// Whether the thread is ready.
    #[inline(always)]
    pub fn contains(&self, thread: ThreadId) -> bool {
        self.reads.contains(thread) || self.others.contains(thread)
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, thread: ThreadId, reads: bool) {
        if reads {
            self.reads.insert(thread)
        } else {
            self.others.insert(thread)
        }
        match &self.ops[thread.index()] {
            None => self.unknown.insert(thread),
            Some(op) if op.rmw.may_wait() || op.kind == Kind::Join => self.doubtful.insert(thread),
            Some(_) => {}
        }
    }

    /// As [`Ready::insert`], for a thread that has just reached an access or a choice, which is to be
    /// [noted](Ready::set_op).
    #[inline(always)]
    pub(crate) fn insert_before(&mut self, thread: ThreadId, reads: bool, may_wait: bool) {
        if reads {
            self.reads.insert(thread);
        } else {
            self.others.insert(thread);
        }
        if may_wait {
            self.doubtful.insert(thread);
        }
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, thread: ThreadId) {
        self.reads.remove(thread);
        self.others.remove(thread);
        self.unknown.remove(thread);
        self.doubtful.remove(thread);
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.others.clear();
        self.unknown.clear();
        self.doubtful.clear();
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.others.is_empty()
    }

    #[inline(always)]
    pub(crate) fn set_op(&mut self, thread: ThreadId, op: Option<&Op>) {
        self.ops[thread.index()] = op.copied();
    }

    #[inline(always)]
    pub(crate) fn make_room(&mut self, threads: usize) {
        self.ops.resize(threads, None);
    }
}

/// A thread that waits for a lock or a signal in an execution that cannot go on.
#[derive(Clone, Copy, Debug)]
pub struct LockWaiter {
    /// The thread.
    pub thread: ThreadId,
    /// The location.
    pub addr: Addr,
    /// What it wants to do there.
    pub rmw: Rmw,
    /// Memory order if it does not take the lock.
    pub failure: Mode,
    /// Whether the thread would also go on without it.
    pub timed: bool,
    /// A value besides 0 on which it could go on and write.
    pub also: Value,
    /// Where it waits.
    pub site: Site,
}

impl LockWaiter {
    /// The op that the thread waits to take.
    pub fn op(&self) -> Op {
        let Self { addr, rmw, failure, timed, also, site, .. } = *self;
        Op { rmw, failure, operand: timed.into(), ..Op::enter(addr, also, site) }
    }
}

/// A bound on preemptions that a search keeps, and what it has left out for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PreemptionBound {
    /// Preemptions at most.
    pub preemptions: u32,
    /// Graphs that were not followed, since they need more. Nothing is known of what lies beyond
    /// them; if there is none, the search has explored every execution.
    pub left_out: u64,
}

/// How large a search is, as far as can be told from the part that is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The part that is done, from 0 to 1.
    pub progress: f64,
    /// Executions of the whole search: by random descents if such were made, else by weighted backtrack.
    pub total: f64,
    /// Executions of the whole search: by random descents if such were made, else by the recursive method.
    pub recursive: f64,
}

/// How far a search has come that goes through a tree, child by child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Leaves before the current one.
    pub leaves: u64,
    /// The nodes above the current leaf, from the root on.
    pub nodes: Vec<PathNode>,
}

/// A node on the path of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathNode {
    /// Its children.
    pub children: u32,
    /// Those of them that are finished; the path goes through the next one.
    pub finished: u32,
    /// Leaves before those of the child through which the path goes.
    pub leaves: u64,
}

/// What a strategy has to look at: the graph and the model.
pub struct Scene<'a> {
    /// The graph so far.
    pub graph: &'a mut Graph,
    /// The memory model.
    pub model: &'a mut dyn MemoryModel,
}

/// What a read has seen, and what has become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The value.
    pub value: Value,
    /// Whether the read has written another one in its place.
    pub changed: bool,
}

impl Seen {
    /// What a read of the graph has seen.
    #[inline(always)]
    pub fn by(graph: &Graph, read: EventId) -> Seen {
        let event = graph.event(read);
        let value = graph.value(event.addr, event.rf);
        Seen { value, changed: event.is_update() && event.value != value }
    }
}

/// What a strategy that runs one order of steps after another has counted, under its present bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// Orders that were run to their end.
    pub complete: u64,
    /// Those of them that are not equivalent.
    pub classes: u64,
    /// Orders that were given up, since each way to go on is equivalent to one that was run.
    pub stuck: u64,
    /// Preemptions at most, if there is a bound.
    pub bound: Option<u32>,
    /// The highest bound within which everything has been explored.
    pub explored: Option<u32>,
    /// Whether something was left out because of the bound.
    pub cut: bool,
    /// Whether preemptions are left out whatever the bound.
    pub selective: bool,
}

/// A way to search.
///
/// An execution asks it whenever something is open. All threads that can move stand before
/// their next op when a choice among threads is made, so a strategy may decide by the whole
/// picture.
pub trait Strategy: Send {
    /// The name by which users choose it.
    fn name(&self) -> &'static str;

    /// Whether it decides among threads by the ops before which they stand. Then [`Ready`] holds
    /// just the threads whose op can be taken, the op of each is known, and `admits` is not asked. A
    /// thread whose loop waits on the newest values goes on when one of them changes, instead of
    /// staying where it is; so each of its executions is one that a machine could run to its end.
    ///
    /// Such a strategy makes one decision after another in one run, from an empty graph or from one that
    /// was [cut back](Graph::cut) to earlier decisions: the executions that it leaves out of its plan
    /// cannot be reached by changing a finished graph.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Whether an execution ends where the loop of a thread has come back to where it was, having only read,
    /// and not the newest values: without that round it would be the same.
    fn drops_idle_rounds(&self) -> bool {
        false
    }

    /// Whether it draws executions at random, one after another: then it never comes to an end by
    /// itself, all that it finds is that there is a violation, and loops that keep a counter are not cut.
    /// It must look ahead, and is asked about accesses and choices only: other ops commute with those
    /// of other threads, and are taken at once.
    fn samples(&self) -> bool {
        false
    }

    /// Whether its picks depend on the ops before which threads stand. If not, the op of a thread that has just
    /// come may be missing when it samples.
    fn compares_ops(&self) -> bool {
        true
    }

    /// Whether what is recorded is to be repeated in the order in which it took effect, each event once all threads
    /// stand before theirs: then what threads share that nobody sees is as it was, as long as the strategy only
    /// takes back the latest events. That is slower.
    fn keeps_order(&self) -> bool {
        false
    }

    /// What its executions have covered, if it keeps account of that.
    fn coverage(&self) -> Option<&Coverage> {
        None
    }

    /// Whether one execution is followed, which is known: threads must stop where they stopped in it.
    fn follows(&self) -> bool {
        false
    }

    /// Whether the execution that is followed has asked for what cannot be: a thread that could not move, a write that is not
    /// there.
    fn is_lost(&self) -> bool {
        false
    }

    /// Until when threads are late in the execution that is followed, if they are.
    fn moment(&self) -> Option<Moment> {
        None
    }

    /// The thread whose step is the next one in the execution that is followed.
    fn next_thread(&self, _graph: &Graph) -> Option<ThreadId> {
        None
    }

    /// Whether a thread whose loop has come back to where it was, having only read, goes on all the
    /// same: it did so in the execution that is followed.
    fn goes_on(&self, _graph: &Graph, _thread: ThreadId) -> bool {
        false
    }

    /// Whether `thread`, which has just reached an op, may take it before those in `ready`.
    fn admits(&mut self, thread: ThreadId, reads: bool, ready: &Ready) -> bool;

    /// The thread that moves next; one of `ready`. `None` ends the execution here.
    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId>;

    /// Adds a read, and decides what it sees.
    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen;

    /// Adds a write, and decides where it goes.
    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId;

    /// Adds a choice, and decides it.
    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId;

    /// Says that the execution cannot go on, and who waits for locks.
    fn stuck(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]);

    /// Whether the execution that has just ended is one of those that the search is after. Others may be
    /// met on the way to them.
    fn counts(&mut self, _: Scene<'_>, _: &[LockWaiter]) -> bool {
        true
    }

    /// The bound on preemptions that the search keeps.
    fn preemption_bound(&self) -> Option<PreemptionBound> {
        None
    }

    /// How large the search is, if that can be told; `leaves` executions have been visited so far. Asked
    /// between executions.
    fn estimate(&self, _leaves: u64) -> Option<Estimate> {
        None
    }

    /// How far the search has come, if it goes through a tree.
    fn path(&self) -> Option<Path> {
        None
    }

    /// Makes the graph that the same execution starts from, which is to be run once more. Unless a
    /// strategy says otherwise, what there is of it is repeated.
    fn prepare_rerun(&mut self, _scene: Scene<'_>) {}

    /// Makes the graph that the next execution starts from; `false` when all is explored.
    fn next(&mut self, scene: Scene<'_>) -> bool;

    /// What is wrong with what the strategy keeps of its search, if something is, now that the graph is this one. Asked in
    /// builds with the feature `audit`.
    fn flaw(&self, _graph: &Graph) -> Option<String> {
        None
    }

    /// What has been counted, if the strategy runs traces under sequential consistency.
    fn traces(&self) -> Option<Traces> {
        None
    }
}
