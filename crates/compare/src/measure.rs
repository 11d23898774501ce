//! One cell: a program under a strategy, within a budget of CPU time.
//!
//! The budget is one of CPU time of the worker, and not of time on the wall: other work on the machine
//! takes nothing away. A plan that decides by the time sees that clock too. The executions that were run to
//! their end are told apart by [`Graph::class`](unpick_core::graph::Graph::class), whatever the strategy, so
//! that the counts of all strategies mean the same.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};
use std::time::Duration;

use serde_json::{Value, json};
use unpick_check::Error;
use unpick_core::execution::{Execution, Outcome};
use unpick_core::plan::{Ending, Moment, Outlook, Plan, Step};
use unpick_runtime::interrupt;
use unpick_runtime::worker::{self, Explored};

use crate::program::{Form, Program};

/// A program under a strategy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The name of the program.
    pub program: String,
    /// Its form.
    pub form: Form,
    /// The strategy, with its parameter.
    pub strategy: String,
    /// Where random numbers start.
    pub seed: u64,
}

/// What each cell may use, and under which memory it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// CPU time at most.
    pub cpu: Duration,
    /// Executions at most.
    pub executions: Option<u64>,
    /// Events of one execution at most, unless the strategy says how many. Longer ones are cut: a search
    /// that draws at random may draw one that never ends.
    pub events: Option<usize>,
    /// The memory model, unless it is that of the program.
    pub model: Option<String>,
}

impl Budget {
    /// How long the thread of a program may do nothing visible.
    pub(crate) fn hang(&self) -> Duration {
        self.cpu * 4 + Duration::from_secs(2)
    }
}

/// How a search stood at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Executions so far, of all kinds.
    pub executions: u64,
    /// Complete executions so far that are not equivalent.
    pub distinct: u64,
    /// CPU time so far, in seconds.
    pub seconds: f64,
}

/// How a cell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With a violation, of this title.
    Found(String),
    /// Everything was explored, and nothing was found.
    Exhausted,
    /// All was explored that the strategy explores, which is not everything.
    Bounded,
    /// The budget was used up.
    Spent,
    /// It could not be carried out.
    Failed(String),
}

/// What came of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// How it ended.
    pub end: End,
    /// How it stood then.
    pub last: Point,
    /// Executions that were not run to their end, since they could not go on or would have repeated
    /// others.
    pub stuck: u64,
    /// The bound on preemptions that was being explored.
    pub bound: Option<u32>,
    /// The bound on preemptions within which everything was explored.
    pub explored: Option<u32>,
    /// How it stood meanwhile.
    pub history: Vec<Point>,
}

impl Measured {
    /// A cell that could not be carried out.
    pub fn failed(problem: impl Into<String>) -> Measured {
        Measured {
            end: End::Failed(problem.into()),
            last: Point::default(),
            stuck: 0,
            bound: None,
            explored: None,
            history: Vec::new(),
        }
    }

    /// Whether a violation was found.
    pub fn found(&self) -> bool {
        matches!(self.end, End::Found(_))
    }

    /// One line of JSON.
    pub fn to_json(&self) -> Value {
        let (end, text) = match &self.end {
            End::Found(title) => ("found", title.as_str()),
            End::Exhausted => ("exhausted", ""),
            End::Bounded => ("bounded", ""),
            End::Spent => ("spent", ""),
            End::Failed(problem) => ("failed", problem.as_str()),
        };
        let point = |point: &Point| json!([point.executions, point.distinct, point.seconds]);
        json!({
            "end": end,
            "text": text,
            "last": point(&self.last),
            "stuck": self.stuck,
            "bound": self.bound,
            "explored": self.explored,
            "history": self.history.iter().map(point).collect::<Vec<Value>>(),
        })
    }

    /// What a line of JSON says.
    pub fn from_json(value: &Value) -> Option<Measured> {
        let text = value["text"].as_str()?.to_string();
        let end = match value["end"].as_str()? {
            "found" => End::Found(text),
            "exhausted" => End::Exhausted,
            "bounded" => End::Bounded,
            "spent" => End::Spent,
            "failed" => End::Failed(text),
            _ => return None,
        };
        let point = |value: &Value| {
            Some(Point {
                executions: value[0].as_u64()?,
                distinct: value[1].as_u64()?,
                seconds: value[2].as_f64()?,
            })
        };
        let bound = |name: &str| value[name].as_u64().and_then(|bound| u32::try_from(bound).ok());
        Some(Measured {
            end,
            last: point(&value["last"])?,
            stuck: value["stuck"].as_u64()?,
            bound: bound("bound"),
            explored: bound("explored"),
            history: value["history"].as_array()?.iter().map(point).collect::<Option<_>>()?,
        })
    }
}

/// Runs a cell here, in this process.
///
/// # Errors
///
/// When a setting is wrong, or the check could not be carried out.
pub fn measure(program: &Program, cell: &Cell, budget: &Budget) -> Result<Measured, Error> {
    let body = program.body(cell.form);
    let mut check = program.settings().strategy(&cell.strategy).hang_limit(budget.hang());
    if let Some(model) = &budget.model {
        check = check.model(model);
    }
    if let Some(executions) = budget.executions {
        check = check.max_executions(executions);
    }
    if let Some(events) = budget.events {
        check = check.max_events(events);
    }
    let seed = cell.seed.to_string();
    let check = check.time_limit(budget.cpu).with(|name| (name == "UNPICK_SEED").then(|| seed.clone()))?;
    let mut task = check.task(move || body())?;
    // Plans have heard of the limit; the clock that counts is the one of the wrapper.
    task.budget.time = None;
    task.budget.violations = 1;
    let record = Arc::new(Mutex::new(Record::default()));
    let theirs = Arc::clone(&record);
    task.plan = Box::new(OnCpu { inner: task.plan, record: Arc::clone(&record), limit: budget.cpu });
    task.observer = Some(Box::new(move |execution, outcome| {
        let mut record = lock(&theirs);
        record.stuck += u64::from(matches!(outcome, Outcome::Blocked(_) | Outcome::Ended));
        record.add(matches!(outcome, Outcome::Complete).then(|| execution.graph().class()));
    }));
    let _listening = interrupt::listen();
    let explored = worker::explore(task, &mut |_, _| {})?;
    let record = std::mem::take(&mut *lock(&record));
    Ok(conclude(record, &explored))
}

fn conclude(record: Record, explored: &Explored) -> Measured {
    let strategy = explored.execution.strategy();
    let traces = strategy.traces();
    let bound = strategy.preemption_bound();
    let cut = explored.cut.is_some()
        || !explored.cut_loops.is_empty()
        || bound.is_some_and(|bound| bound.left_out > 0)
        || traces.is_some_and(|traces| traces.cut || traces.selective);
    let end = match &explored.ending {
        Ending::Violated(violation) => End::Found(violation.title().to_string()),
        Ending::Exhausted if cut => End::Bounded,
        Ending::Exhausted => End::Exhausted,
        Ending::Executions | Ending::Time | Ending::Interrupted => End::Spent,
    };
    let last = Point {
        executions: record.executions,
        distinct: record.classes.len() as u64,
        seconds: explored.cpu.as_secs_f64(),
    };
    Measured {
        end,
        last,
        stuck: record.stuck,
        bound: traces.map_or(bound.map(|bound| bound.preemptions), |traces| traces.bound),
        explored: traces.and_then(|traces| traces.explored),
        history: record.points,
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What is seen of a search while it goes on.
#[derive(Default)]
struct Record {
    classes: HashSet<u64>,
    executions: u64,
    stuck: u64,
    points: Vec<Point>,
    /// Executions, and distinct ones, at which the next point is due.
    next: (u64, u64),
    /// Seconds at which the next point is due.
    next_seconds: f64,
    clock: Clock,
}

impl Record {
    /// An execution has ended; it has a class if it was run to its end.
    fn add(&mut self, class: Option<u64>) {
        self.executions += 1;
        let new = class.is_some_and(|class| self.classes.insert(class));
        let distinct = self.classes.len() as u64;
        if self.executions >= self.next.0 || new && distinct >= self.next.1 {
            self.note();
        }
    }

    /// Notes how the search stands. Points are so far apart that a curve has some hundreds of them.
    fn note(&mut self) {
        let distinct = self.classes.len() as u64;
        let seconds = self.clock.now().as_secs_f64();
        self.points.push(Point { executions: self.executions, distinct, seconds });
        let after = |count: u64| count + count / 8 + 1;
        self.next = (after(self.executions), after(distinct));
        self.next_seconds = seconds * 1.125;
    }
}

/// CPU time of the worker, which may move from one OS thread to another.
#[derive(Default)]
struct Clock {
    before: Duration,
    thread: Option<(ThreadId, Duration)>,
}

impl Clock {
    fn now(&mut self) -> Duration {
        let (current, cpu) = (thread::current().id(), worker::thread_cpu());
        if let Some((last, spent)) = self.thread
            && last != current
        {
            self.before += spent;
        }
        self.thread = Some((current, cpu));
        self.before + cpu
    }
}

/// A plan that goes by CPU time.
struct OnCpu {
    inner: Box<dyn Plan>,
    record: Arc<Mutex<Record>>,
    limit: Duration,
}

impl Plan for OnCpu {
    fn begin(&mut self) -> Execution {
        self.inner.begin()
    }

    fn start_over(&mut self, execution: &mut Execution) {
        self.inner.start_over(execution);
    }

    fn review(&mut self, execution: &mut Execution, moment: Moment) -> Step {
        let elapsed = {
            let mut record = lock(&self.record);
            let elapsed = record.clock.now();
            if elapsed.as_secs_f64() >= record.next_seconds {
                record.note();
            }
            elapsed
        };
        match self.inner.review(execution, Moment { elapsed, ended: moment.ended }) {
            Step::GoOn | Step::Switched if elapsed >= self.limit => Step::OutOfTime,
            step => step,
        }
    }

    fn outlook(&self, execution: &Execution) -> Outlook {
        self.inner.outlook(execution)
    }
}

#[cfg(test)]
mod tests {
    use unpick::sync::Arc as Shared;
    use unpick::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    fn cell(form: Form, strategy: &str) -> Cell {
        Cell { program: String::from("updates"), form, strategy: strategy.to_string(), seed: 0 }
    }

    fn budget() -> Budget {
        Budget { cpu: Duration::from_secs(20), executions: None, events: None, model: None }
    }

    /// Three threads that count, one after the other or at the same time.
    fn updates() -> Program {
        let run = |step: fn(&AtomicUsize)| {
            let number = Shared::new(AtomicUsize::new(0));
            let mut threads = Vec::new();
            for _ in 0..3 {
                let number = Shared::clone(&number);
                threads.push(unpick::thread::spawn(move || step(&number)));
            }
            threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
            assert_eq!(number.load(SeqCst), 3);
        };
        let lossy: fn(&AtomicUsize) = |number| number.store(number.load(SeqCst) + 1, SeqCst);
        let sound: fn(&AtomicUsize) = |number| {
            number.fetch_add(1, SeqCst);
        };
        Program::new("updates", move || run(lossy)).fixed(move || run(sound))
    }

    #[test]
    fn equivalent_executions_are_told_from_others() {
        for (strategy, executions) in [("optimal", 6), ("source-dpor", 6), ("dpor", 6)] {
            let measured = measure(&updates(), &cell(Form::Fixed, strategy), &budget()).expect("it runs");
            assert_eq!(measured.end, End::Exhausted, "{strategy}");
            assert_eq!((measured.last.executions, measured.last.distinct), (executions, 6), "{strategy}");
            let last = measured.history.last().copied().unwrap_or_default();
            assert!(last.distinct <= 6 && last.distinct >= 4, "{strategy}: {last:?}");
        }
        let chess = measure(&updates(), &cell(Form::Fixed, "chess"), &budget()).expect("it runs");
        assert_eq!((chess.end, chess.last.distinct), (End::Exhausted, 6));
        assert_eq!(chess.explored, chess.bound);
    }

    /// What is given up half way is an execution too. The numbers are those of the reference for
    /// `wx || ry rx || rz rx`: traces, those of them that are stuck, and classes.
    #[test]
    fn executions_that_are_given_up_are_counted() {
        let readers = Program::new("readers", || {
            let [x, y, z] = [0, 0, 0].map(AtomicUsize::new);
            unpick::thread::scope(|scope| {
                scope.spawn(|| x.store(1, SeqCst));
                for first in [&y, &z] {
                    let x = &x;
                    scope.spawn(move || (first.load(SeqCst), x.load(SeqCst)));
                }
            });
        });
        for (strategy, expected) in
            [("dpor-sleep", (5, 1, 4)), ("source-dpor", (4, 0, 4)), ("dpor", (26, 0, 4))]
        {
            let measured = measure(&readers, &cell(Form::Buggy, strategy), &budget()).expect("it runs");
            let Point { executions, distinct, .. } = measured.last;
            assert_eq!((executions, measured.stuck, distinct), expected, "{strategy}");
        }
    }

    #[test]
    fn a_violation_ends_the_search() {
        let measured = measure(&updates(), &cell(Form::Buggy, "cb-dpor"), &budget()).expect("it runs");
        assert_eq!(measured.end, End::Found(String::from("panic")));
        assert_eq!((measured.bound, measured.explored), (Some(1), Some(0)));
    }

    #[test]
    fn budgets_are_kept() {
        let few = Budget { executions: Some(3), ..budget() };
        let measured = measure(&updates(), &cell(Form::Fixed, "optimal"), &few).expect("it runs");
        assert_eq!((measured.end, measured.last.executions), (End::Spent, 3));
        // Ten threads have 3,628,800 executions.
        let many = Program::new("many", || {
            let number = AtomicUsize::new(0);
            unpick::thread::scope(|scope| {
                (0..10).for_each(|_| drop(scope.spawn(|| number.fetch_add(1, SeqCst))));
            });
        });
        let short = Budget { cpu: Duration::from_millis(100), ..budget() };
        let measured = measure(&many, &cell(Form::Buggy, "optimal"), &short).expect("it runs");
        assert_eq!(measured.end, End::Spent);
        assert!(measured.last.executions < 3_628_800, "{}", measured.last.executions);
        assert!(measured.history.is_sorted_by(|a, b| a.seconds <= b.seconds && a.executions <= b.executions));
    }

    #[test]
    fn an_execution_without_end_is_cut() {
        let endless = Program::new("endless", || {
            let number = AtomicUsize::new(0);
            while number.fetch_add(1, SeqCst) < 1_000_000_000 {}
        });
        let short = Budget { events: Some(100), executions: Some(3), ..budget() };
        for strategy in ["random", "dpor"] {
            let measured = measure(&endless, &cell(Form::Buggy, strategy), &short).expect("it runs");
            assert_eq!(measured.last.distinct, 0, "{strategy}");
            assert!(matches!(measured.end, End::Spent | End::Bounded), "{strategy}: {:?}", measured.end);
        }
    }

    #[test]
    fn what_does_not_exist_is_an_error() {
        let error =
            measure(&updates(), &cell(Form::Fixed, "tea-leaves"), &budget()).expect_err("no such thing");
        assert!(error.to_string().contains("there is no strategy `tea-leaves`"), "{error}");
    }

    #[test]
    fn what_came_of_a_cell_survives_the_way_through_json() {
        let point = Point { executions: 12, distinct: 7, seconds: 0.25 };
        let some = Measured {
            end: End::Found(String::from("data \"race\"")),
            last: point,
            stuck: 3,
            bound: Some(2),
            explored: None,
            history: vec![Point::default(), point],
        };
        for measured in [some, Measured::failed("no\nluck")] {
            let text = measured.to_json().to_string();
            let back = serde_json::from_str(&text).ok().and_then(|value| Measured::from_json(&value));
            assert_eq!(back, Some(measured));
        }
        assert_eq!(Measured::from_json(&json!({"end": "found"})), None);
    }
}
