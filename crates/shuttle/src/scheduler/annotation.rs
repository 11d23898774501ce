//! A scheduler that writes down what another decides.

use std::fmt::Write;

use super::{Native, Schedule, Scheduler, Task};
use crate::current::TaskId;

/// Writes the decisions of another scheduler to a file when it is dropped, as JSON: for each step the task
/// that moved and those that could have. The file is the one that [`ANNOTATION_FILE`](crate::ANNOTATION_FILE)
/// names, or `annotated.json`. Its format is not that of Shuttle Explorer.
#[derive(Debug)]
pub struct AnnotationScheduler<S: Scheduler> {
    scheduler: S,
    steps: String,
}

impl<S: Scheduler> AnnotationScheduler<S> {
    /// Writes down what a scheduler decides.
    pub fn new(scheduler: S) -> AnnotationScheduler<S> {
        AnnotationScheduler { scheduler, steps: String::new() }
    }

    fn note(&mut self, step: std::fmt::Arguments<'_>) {
        let comma = if self.steps.is_empty() { "" } else { ",\n  " };
        write!(self.steps, "{comma}{step}").expect("writing to a string does not fail");
    }
}

impl<S: Scheduler> Scheduler for AnnotationScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.scheduler.new_execution()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let chosen = self.scheduler.next_task(tasks, current, yields)?;
        let runnable: Vec<String> = tasks.iter().map(|task| task.id().to_string()).collect();
        self.note(format_args!(r#"{{ "task": {chosen}, "runnable": [{}] }}"#, runnable.join(", ")));
        Some(chosen)
    }

    fn next_u64(&mut self) -> u64 {
        let number = self.scheduler.next_u64();
        self.note(format_args!(r#"{{ "random": {number} }}"#));
        number
    }

    fn native(&self) -> Option<Native> {
        self.scheduler.native().filter(|native| matches!(native, Native::Replay { .. }))
    }
}

impl<S: Scheduler> Drop for AnnotationScheduler<S> {
    fn drop(&mut self) {
        let path = std::env::var(crate::ANNOTATION_FILE).unwrap_or_else(|_| String::from("annotated.json"));
        // A scheduler cannot fail where it is dropped.
        let _ = std::fs::write(path, format!("{{ \"steps\": [\n  {}\n] }}\n", self.steps));
    }
}
