//! One execution, as its schedule says.

use std::io;
use std::path::Path;

use super::data::{DataSource, RandomDataSource};
use super::{Native, Schedule, ScheduleStep, Scheduler, Task};
use crate::clock::VectorClock;
use crate::current::TaskId;

/// Runs one execution again.
#[derive(Debug)]
pub struct ReplayScheduler {
    what: What,
    steps: usize,
    started: bool,
    allow_incomplete: bool,
    data: RandomDataSource,
}

#[derive(Debug)]
enum What {
    /// A schedule of unpick's.
    Token(String),
    /// The tasks that move.
    Steps(Vec<ScheduleStep>),
}

impl ReplayScheduler {
    /// The execution of a schedule that a failing test has shown.
    ///
    /// # Panics
    ///
    /// When it is a schedule of Shuttle's, whose steps are not those of unpick.
    pub fn new_from_encoded(schedule: &str) -> ReplayScheduler {
        let token = schedule.trim();
        assert!(
            !is_foreign(token),
            "this is a schedule that Shuttle has written, whose steps are not those of unpick; run the test again \
             to find a schedule of unpick's"
        );
        ReplayScheduler::new(What::Token(token.to_string()), 0)
    }

    /// The execution of a schedule in a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    ///
    /// # Panics
    ///
    /// As [`new_from_encoded`](ReplayScheduler::new_from_encoded).
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> Result<ReplayScheduler, io::Error> {
        Ok(ReplayScheduler::new_from_encoded(&std::fs::read_to_string(path)?))
    }

    /// An execution in which these tasks move.
    pub fn new_from_schedule(schedule: Schedule) -> ReplayScheduler {
        ReplayScheduler::new(What::Steps(schedule.steps), schedule.seed)
    }

    fn new(what: What, seed: u64) -> ReplayScheduler {
        let data = RandomDataSource::initialize(seed);
        ReplayScheduler { what, steps: 0, started: false, allow_incomplete: false, data }
    }

    /// Lets the execution end where the schedule does.
    pub fn set_allow_incomplete(&mut self) {
        self.allow_incomplete = true;
    }

    /// Leaves out steps that have nothing to do with the end of the execution. Reports of unpick have none,
    /// and this has no effect.
    pub fn set_target_clock(&mut self, clock: impl Into<VectorClock>) {
        let _ = clock.into();
    }
}

/// Whether a text looks like a schedule of Shuttle's: hexadecimal digits, of which the first are a mark.
fn is_foreign(text: &str) -> bool {
    let digits = text.chars().all(|c| c.is_ascii_hexdigit() || c.is_whitespace());
    digits && ["91", "92"].iter().any(|mark| text.starts_with(mark))
}

impl Scheduler for ReplayScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        let first = !std::mem::replace(&mut self.started, true);
        first.then(|| Schedule::new(self.data.reinitialize()))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let What::Steps(steps) = &self.what else {
            panic!(
                "a schedule of unpick's can only be replayed by a `Runner` that has this scheduler directly"
            );
        };
        let Some(step) = steps.get(self.steps) else {
            assert!(self.allow_incomplete, "schedule ended early");
            return None;
        };
        self.steps += 1;
        match step {
            ScheduleStep::Task(next) if runnable.iter().any(|task| task.id() == *next) => Some(*next),
            ScheduleStep::Task(next) => {
                assert!(
                    self.allow_incomplete,
                    "scheduled task is not runnable: {next:?} is not among {runnable:?}"
                );
                None
            }
            ScheduleStep::Random => panic!("expected context switch but next schedule step is random choice"),
        }
    }

    fn next_u64(&mut self) -> u64 {
        if let What::Steps(steps) = &self.what
            && steps.get(self.steps) == Some(&ScheduleStep::Random)
        {
            self.steps += 1;
        }
        self.data.next_u64()
    }

    fn native(&self) -> Option<Native> {
        match &self.what {
            What::Token(token) => Some(Native::Replay { token: token.clone() }),
            What::Steps(_) => None,
        }
    }
}
