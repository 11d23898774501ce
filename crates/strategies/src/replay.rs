//! Replay: one execution, as its schedule says.

use unpick_core::event::EventId;
use unpick_core::execution::Execution;
use unpick_core::graph::Graph;
use unpick_core::op::{Op, ThreadId};
use unpick_core::schedule::{Choice, Moment, Schedule, fingerprint};
use unpick_core::strategy::{LockWaiter, Ready, Scene, Seen, Strategy};

/// Follows a schedule to its end, and stops there.
#[derive(Debug)]
pub struct Replay {
    schedule: Schedule,
    /// How many steps each thread has.
    steps: Vec<usize>,
    at: usize,
    impossible: bool,
}

impl Replay {
    /// A strategy that follows this schedule.
    pub fn new(schedule: Schedule) -> Replay {
        let mut steps = Vec::new();
        for step in &schedule.steps {
            let thread = step.thread.index();
            steps.resize(steps.len().max(thread + 1), 0);
            steps[thread] += 1;
        }
        Replay { schedule, steps, at: 0, impossible: false }
    }

    /// Lets go of older events where the execution that is followed did.
    fn bound(&self, graph: &mut Graph) {
        if self.schedule.lines.binary_search(&(graph.total() as u32)).is_ok() {
            graph.compact();
        }
    }

    fn next_choice(&mut self, thread: ThreadId) -> Choice {
        match self.schedule.steps.get(self.at) {
            Some(step) if step.thread == thread => {
                self.at += 1;
                step.choice
            }
            _ => {
                self.impossible = true;
                Choice::Default
            }
        }
    }
}

/// Whether an execution that has followed the schedule is of the same program, and has come to its end.
pub fn fits(schedule: &Schedule, execution: &Execution) -> bool {
    let graph = execution.graph();
    !execution.strategy().is_lost()
        && graph.total() == schedule.steps.len()
        && fingerprint(graph, graph.order()) == schedule.fingerprint
}

impl Strategy for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn follows(&self) -> bool {
        true
    }

    fn is_lost(&self) -> bool {
        self.impossible
    }

    fn moment(&self) -> Option<Moment> {
        self.schedule.moment
    }

    fn next_thread(&self, graph: &Graph) -> Option<ThreadId> {
        self.schedule.steps.get(graph.total()).map(|step| step.thread)
    }

    fn goes_on(&self, graph: &Graph, thread: ThreadId) -> bool {
        self.steps.get(thread.index()).is_some_and(|&steps| steps > graph.thread_len(thread))
    }

    fn admits(&mut self, _: ThreadId, _: bool, _: &Ready) -> bool {
        false
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        // Ops without a choice do not come by here, so the graph tells how far we are.
        self.at = graph.total();
        let step = self.schedule.steps.get(self.at)?;
        let there = ready.reads.contains(step.thread) || ready.others.contains(step.thread);
        self.impossible |= !there;
        there.then_some(step.thread)
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        let (back, spurious) = match self.next_choice(thread) {
            Choice::Back(back) => (back as usize, false),
            Choice::Spurious(back) => (back as usize, true),
            Choice::Default => (0, false),
            _ => {
                self.impossible = true;
                (0, false)
            }
        };
        let graph = scene.graph;
        self.bound(graph);
        let read = graph.add(thread, op);
        let newest = graph.writes(op.addr).len();
        self.impossible |= back > newest;
        let source = graph.write_at(op.addr, newest.saturating_sub(back));
        graph.read_from(read, source, spurious);
        Seen::by(graph, read)
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let before = match self.next_choice(thread) {
            Choice::Before(before) => before as usize,
            Choice::Default => 0,
            _ => {
                self.impossible = true;
                0
            }
        };
        let graph = scene.graph;
        self.bound(graph);
        let write = graph.add(thread, op);
        let last = graph.writes(op.addr).len();
        self.impossible |= before > last;
        graph.insert_write(op.addr, last.saturating_sub(before), write);
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let value = match self.next_choice(thread) {
            Choice::Value(value) => value,
            Choice::Default => 0,
            _ => {
                self.impossible = true;
                0
            }
        };
        let most = op.operand.saturating_sub(1);
        self.impossible |= value > most;
        let value = value.min(most);
        scene.graph.add_with_value(thread, op, value)
    }

    fn stuck(&mut self, _: Scene<'_>, _: &[LockWaiter]) {}

    fn prepare_rerun(&mut self, scene: Scene<'_>) {
        // Events may have been let go that would have to be repeated.
        (self.at, self.impossible) = (0, false);
        scene.graph.clear();
    }

    fn next(&mut self, _: Scene<'_>) -> bool {
        false
    }
}
