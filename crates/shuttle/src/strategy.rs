//! A strategy of unpick that asks a [`Scheduler`](crate::scheduler::Scheduler).
//!
//! A scheduler of the user's stays on the OS thread of whoever runs the check, since nothing says that it can be
//! sent to another; the strategy asks it through channels. Those of this crate are asked where the strategy is. An
//! execution that unpick starts once more, because it has learned something about the program, repeats the decisions
//! that were made so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Op, ThreadId};
use unpick_core::strategy::{LockWaiter, Ready, Scene, Seen, Strategy};

use crate::context;
use crate::current::TaskId;
use crate::rand::rngs;
use crate::scheduler::Task;

/// How many there are of the digits that random numbers are made of.
const DIGIT: u64 = rngs::DIGIT as u64;

/// What a scheduler is asked.
pub(crate) enum Question {
    /// Whether there is to be another execution.
    Another,
    /// Which task moves.
    Next { tasks: Vec<Task>, current: Option<TaskId>, yields: bool },
    /// A random number.
    Number,
}

/// What it answers; `None` also when it can answer no more.
pub(crate) enum Answer {
    Another(bool),
    Next(Option<TaskId>),
    Number(u64),
}

/// A way to ask the scheduler, and what it has decided in the current execution.
pub(crate) struct Oracle {
    /// Says nothing when the check is over.
    put: Box<dyn FnMut(Question) -> Option<Answer> + Send>,
    decided: Vec<TaskId>,
}

impl Oracle {
    pub(crate) fn new(put: impl FnMut(Question) -> Option<Answer> + Send + 'static) -> Oracle {
        Oracle { put: Box::new(put), decided: Vec::new() }
    }

    fn ask(&mut self, question: Question) -> Option<Answer> {
        (self.put)(question)
    }
}

/// The strategy.
pub(crate) struct Asking {
    oracle: Arc<Mutex<Oracle>>,
    current: Option<TaskId>,
    /// Decisions in this run.
    steps: usize,
    /// What is left of a random number, for each thread that has taken a part of it: how many digits, and
    /// the number, the next digit first.
    digits: BTreeMap<u32, (u32, u64)>,
}

impl Asking {
    pub(crate) fn new(oracle: Arc<Mutex<Oracle>>) -> Asking {
        Asking { oracle, current: None, steps: 0, digits: BTreeMap::new() }
    }

    fn begin(&mut self) {
        self.current = None;
        self.steps = 0;
        self.digits.clear();
    }

    fn with_oracle<R>(&self, f: impl FnOnce(&mut Oracle) -> R) -> R {
        f(&mut self.oracle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The next digit of a random number, of which the scheduler is asked for a whole.
    fn digit(&mut self, thread: ThreadId) -> u64 {
        let (left, number) = self.digits.remove(&thread.0).unwrap_or_else(|| {
            match self.with_oracle(|oracle| oracle.ask(Question::Number)) {
                Some(Answer::Number(number)) => (4, number),
                _ => (4, 0),
            }
        });
        if left > 1 {
            self.digits.insert(thread.0, (left - 1, number << 16));
        }
        number >> 48
    }

    fn decide(&mut self, tasks: Vec<Task>) -> Option<TaskId> {
        let (steps, current) = (self.steps, self.current);
        let yields = context::take_yield();
        self.with_oracle(|oracle| {
            if let Some(&task) = oracle.decided.get(steps)
                && tasks.iter().any(|other| other.id() == task)
            {
                return Some(task);
            }
            oracle.decided.truncate(steps);
            let Some(Answer::Next(Some(task))) = oracle.ask(Question::Next { tasks, current, yields }) else {
                return None;
            };
            oracle.decided.push(task);
            Some(task)
        })
    }
}

fn task_of(graph: &Graph, thread: ThreadId) -> Task {
    let id = |thread: ThreadId| TaskId::from(thread.index());
    Task::new(id(thread), graph.spawn_of(thread).map(|spawn| id(spawn.thread)))
}

impl Strategy for Asking {
    fn name(&self) -> &'static str {
        "scheduler"
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn samples(&self) -> bool {
        true
    }

    fn admits(&mut self, _: ThreadId, _: bool, _: &Ready) -> bool {
        true
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        let mut threads: Vec<ThreadId> = ready.threads().collect();
        threads.sort();
        let task = self.decide(threads.iter().map(|&thread| task_of(graph, thread)).collect())?;
        self.current = Some(task);
        self.steps += 1;
        threads.into_iter().find(|thread| thread.index() == usize::from(task))
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        bound(scene.graph);
        let source = scene.graph.newest_source(op.addr);
        let (_, written) = scene.graph.add_newest_read(thread, op, &source);
        Seen { value: source.value, changed: written.is_some_and(|written| written != source.value) }
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        bound(scene.graph);
        let write = scene.graph.add(thread, op);
        let last = scene.graph.writes(op.addr).len();
        scene.graph.insert_write(op.addr, last, write);
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let value = match op.operand {
            DIGIT => self.digit(thread),
            // Which thread is woken, and the like: another one each time.
            bound => self.steps as u64 % bound.max(1),
        };
        scene.graph.add_with_value(thread, op, value)
    }

    fn stuck(&mut self, _: Scene<'_>, _: &[LockWaiter]) {}

    fn prepare_rerun(&mut self, scene: Scene<'_>) {
        self.begin();
        scene.graph.clear();
    }

    fn next(&mut self, scene: Scene<'_>) -> bool {
        self.begin();
        scene.graph.clear();
        self.with_oracle(|oracle| {
            oracle.decided.clear();
            matches!(oracle.ask(Question::Another), Some(Answer::Another(true)))
        })
    }
}

/// Makes room in an execution that is long.
fn bound(graph: &mut Graph) {
    if graph.is_full() {
        graph.compact();
    }
}
