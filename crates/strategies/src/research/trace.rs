//! Search over traces: orders of the steps of all threads, under sequential consistency.
//!
//! A read sees the newest write and a write is the newest, so an execution is an order of steps, and
//! what is left to decide is which thread moves. Every such execution is one of each memory model
//! here; executions that only weaker memory has are not explored. The rules that say who else is run
//! from a state are in `search`:
//!
//! | name | from | what is run |
//! |---|---|---|
//! | `chess` | Musuvathi and Qadeer, PLDI 2007 | every order, by the number of preemptions |
//! | `chess-atomic` | the same | as `chess`, but threads are preempted only before read-modify-writes and lock operations |
//! | `dpor` | Flanagan and Godefroid, POPL 2005 | persistent sets; any two accesses to a location conflict |
//! | `dpor-cr` | Kähkönen, Saarikivi, Heljanko | persistent sets; two reads do not conflict |
//! | `dpor-sleep` | Godefroid 1996 | the same, with sleep sets |
//! | `source-dpor` | Abdulla, Aronis, Jonsson, Sagonas, POPL 2014 | source sets, with sleep sets |
//! | `cb-dpor` | van den Hooff 2014 | every order up to equivalence within a number of preemptions |
//! | `cb-dpor-nosleep` | the same | the same, without sleep sets |
//! | `icb` | Coons, Musuvathi, McKinley, OOPSLA 2013 | persistent sets with conservative points, by preemptions |
//!
//! Steps that no other thread can tell the time of (starting and ending a thread, waiting for one that
//! has ended, fences, choices) are taken at once and are no preemptions.
//!
//! Sleep sets and persistent sets do not fit together as they are published: a thread that is asked
//! for may be asleep, and who should be run instead is not known then. Here all threads that can go
//! on are run in that case. With source sets the question does not come up.
//!
//! `cb-dpor` lets a thread sleep that was preempted: what it would do later can be done at the preemption
//! with no more preemptions. That is not so where another thread waits for a lock that the sleeper holds:
//! changing to the sleeper is free then, and would not be if the lock had been given back before. So a
//! thread that has to wait wakes those who could let it go on.
//!
//! A thread that waits for a lock can be run in place of whoever took the lock, but not in place of
//! whoever gave it back, so that its conflict is with the first of the two. Threads that wait to the
//! end of an execution are looked at as well: without that, executions in which they do not are lost.

mod classes;
mod search;
mod stack;
#[cfg(test)]
mod tests;

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Op, Rmw, TAKEN, ThreadId};
use unpick_core::strategy::{Estimate, LockWaiter, Ready, Scene, Seen, Strategy, Traces};
use unpick_core::thread_set::ThreadSet;

use classes::Classes;
use search::{Rule, Search};
use stack::{Access, Step, Steps};

/// Which traces are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table of the module says what they are")]
pub enum Method {
    Chess,
    ChessAtomic,
    Dpor,
    DporCr,
    DporSleep,
    SourceDpor,
    CbDpor,
    CbDporNosleep,
    Icb,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 9] = [
        Method::Chess,
        Method::ChessAtomic,
        Method::Dpor,
        Method::DporCr,
        Method::DporSleep,
        Method::SourceDpor,
        Method::CbDpor,
        Method::CbDporNosleep,
        Method::Icb,
    ];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Chess => "chess",
            Method::ChessAtomic => "chess-atomic",
            Method::Dpor => "dpor",
            Method::DporCr => "dpor-cr",
            Method::DporSleep => "dpor-sleep",
            Method::SourceDpor => "source-dpor",
            Method::CbDpor => "cb-dpor",
            Method::CbDporNosleep => "cb-dpor-nosleep",
            Method::Icb => "icb",
        }
    }

    /// Whether it counts preemptions, so that they can be bounded.
    pub fn is_bounded(self) -> bool {
        !matches!(self, Method::Dpor | Method::DporCr | Method::DporSleep | Method::SourceDpor)
    }

    fn rule(self) -> Rule {
        match self {
            Method::Chess => Rule::All,
            Method::ChessAtomic => Rule::Synchronising,
            Method::Dpor | Method::DporCr => Rule::Persistent { sleep: false },
            Method::DporSleep => Rule::Persistent { sleep: true },
            Method::SourceDpor => Rule::Source,
            Method::CbDpor => Rule::Marked { sleep: true },
            Method::CbDporNosleep => Rule::Marked { sleep: false },
            Method::Icb => Rule::Conservative,
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct Trace {
    method: Method,
    spurious: bool,
    /// The bound on preemptions now, and whether it is raised as long as that helps.
    bound: Option<u32>,
    deepens: bool,
    search: Search,
    steps: Vec<Option<Step>>,
    enabled: ThreadSet,
    classes: Classes,
    traces: Traces,
    /// Traces that were run to their end under lower bounds.
    earlier: u64,
}

impl Trace {
    /// A search from the start, with so many preemptions at most; without a number, methods that count
    /// preemptions allow none, then one, and so on until nothing is left out. `spurious` lets weak
    /// exchanges fail without a reason.
    ///
    /// # Panics
    ///
    /// When there is a bound, and the method does not count preemptions.
    pub fn new(method: Method, bound: Option<u32>, spurious: bool) -> Trace {
        assert!(bound.is_none() || method.is_bounded(), "{} has no bound", method.name());
        let deepens = bound.is_none() && method.is_bounded();
        let bound = if deepens { Some(0) } else { bound };
        Trace {
            method,
            spurious,
            bound,
            deepens,
            search: Search::new(method.rule(), method == Method::Dpor, bound),
            steps: Vec::new(),
            enabled: ThreadSet::new(),
            classes: Classes::default(),
            traces: Traces { bound, ..Traces::default() },
            earlier: 0,
        }
    }
}

impl Strategy for Trace {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn admits(&mut self, _: ThreadId, _: bool, _: &Ready) -> bool {
        false
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        self.enabled.clone_from(&ready.others);
        self.enabled.insert_all(&ready.reads);
        let view = View { graph, ready, spurious: self.spurious };
        self.search.pick(graph.len(), &view, &self.enabled)
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        let graph = scene.graph;
        let spurious = self.search.way(graph.len()) > 0;
        let read = graph.add(thread, op);
        let newest = graph.newest(op.addr);
        graph.read_from(read, newest, spurious);
        Seen::by(graph, read)
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let graph = scene.graph;
        let write = graph.add(thread, op);
        let last = graph.writes(op.addr).len();
        graph.insert_write(op.addr, last, write);
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let value = self.search.way(scene.graph.len());
        scene.graph.add_with_value(thread, op, value)
    }

    fn stuck(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]) {
        let graph = scene.graph;
        self.steps.clear();
        self.steps.resize(graph.thread_count(), None);
        for waiter in waiters {
            let step = step(graph, waiter.thread, &waiter.op(), false, self.spurious);
            self.steps[waiter.thread.index()] = Some(step);
        }
        self.search.end(self.steps.as_slice());
    }

    fn next(&mut self, scene: Scene<'_>) -> bool {
        if self.search.is_stuck() {
            self.traces.stuck += 1;
        } else {
            self.traces.complete += 1;
            self.classes.insert(scene.graph);
            self.traces.classes = self.classes.len();
        }
        if let Some(len) = self.search.advance() {
            scene.graph.cut(len);
            return true;
        }
        self.traces.cut = self.search.is_cut();
        self.traces.explored = self.bound;
        if !self.deepens || !self.traces.cut {
            return false;
        }
        let bound = self.bound.map_or(0, |bound| bound + 1);
        self.bound = Some(bound);
        self.earlier += self.search.traces();
        self.search.restart(bound);
        self.classes.clear();
        let explored = self.traces.explored;
        self.traces = Traces { bound: Some(bound), explored, ..Traces::default() };
        scene.graph.cut(0);
        true
    }

    fn estimate(&self, _: u64) -> Option<Estimate> {
        let (tree, run, earlier) = (self.search.tree(), self.search.traces(), self.earlier as f64);
        if run == 0 {
            return None;
        }
        // The bound that follows is not known to be needed, so the search is up to the present one.
        let total = earlier + tree.total(run);
        let progress = (earlier + run as f64) / total;
        Some(Estimate { progress, total, recursive: earlier + tree.recursive() })
    }

    fn traces(&self) -> Option<Traces> {
        Some(Traces { selective: self.method == Method::ChessAtomic, ..self.traces })
    }
}

/// The threads of an execution. What they would do next is found out when it is asked for.
struct View<'a> {
    graph: &'a Graph,
    ready: &'a Ready,
    spurious: bool,
}

impl Steps for View<'_> {
    fn threads(&self) -> usize {
        self.graph.thread_count()
    }

    fn step(&self, thread: ThreadId) -> Option<Step> {
        let exists = self.graph.exists(thread) && !self.graph.is_finished(thread);
        let step = |op| step(self.graph, thread, op, self.ready.contains(thread), self.spurious);
        exists.then(|| self.ready.op(thread).map_or(Step::unknown(), step))
    }

    fn is_silent(&self, thread: ThreadId) -> bool {
        self.ready.op(thread).is_some_and(|op| op.addr == Addr::NONE)
    }
}

/// The step of a thread that stands before this op. If the thread waits for something other than a lock,
/// nothing is known of it.
fn step(graph: &Graph, thread: ThreadId, op: &Op, enabled: bool, spurious: bool) -> Step {
    let origin = if graph.thread_len(thread) == 0 { graph.spawn_of(thread) } else { None };
    let origin = origin.map(|spawn| graph.event(spawn).stamp);
    if op.addr == Addr::NONE {
        let joins = (op.kind == Kind::Join).then_some(ThreadId(op.operand as u32));
        let ways = if op.kind == Kind::Choice { op.operand } else { 1 };
        let known = Step { origin, joins, ways, ..Step::silent() };
        return if enabled { known } else { Step::unknown() };
    }
    let value = graph.value(op.addr, graph.newest(op.addr));
    let waits = op.kind == Kind::Read && op.rmw.may_wait();
    if !(enabled || waits && op.rmw.waits_on(value)) {
        return Step::unknown();
    }
    let succeeds = op.apply(value).is_some();
    let access = Access {
        place: op.addr.0,
        writes: op.kind == Kind::Write || succeeds || !enabled,
        taken: value == TAKEN,
    };
    let ways = if spurious && op.rmw == Rmw::WeakCas && succeeds { 2 } else { 1 };
    let synchronises = op.rmw != Rmw::None;
    Step { origin, waits, enabled, ways, synchronises, ..Step::access(access) }
}
