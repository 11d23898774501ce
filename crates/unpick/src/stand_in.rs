//! What stand-ins for other tools need, and tools that measure, and users do not. No promise of stability.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use unpick_check::{Error, Verdict, registry};
use unpick_core::execution::Execution;
use unpick_core::plan::Plan;
use unpick_core::strategy::Strategy;
use unpick_core::trace::Finding;
use unpick_runtime::worker::Task;
use unpick_runtime::{Program, ops, panics};

use crate::api::{self, Check};
pub use crate::files::Note;
use crate::future::{self, JoinHandle};
use crate::here;
use crate::learning::Lesson;
use crate::replay::MENDED;

impl Check {
    /// What the runtime is to do, for tools that measure searches: the environment is left out of account,
    /// and a violation is not told.
    ///
    /// # Errors
    ///
    /// When a setting is wrong.
    #[doc(hidden)]
    pub fn task<F: Fn() + Send + Sync + 'static>(&self, f: F) -> Result<Task, Error> {
        let program: Program = Arc::new(f);
        Ok(api::task(&self.config, &program, registry::plan(&self.config)?))
    }

    /// As [`run`](Check::run), for a front-end that makes a [`Note`] of the check by itself.
    ///
    /// # Errors
    ///
    /// As [`run`](Check::run).
    #[doc(hidden)]
    pub fn run_unnoted<F: Fn() + Send + Sync + 'static>(&self, f: F) -> Result<Verdict, Error> {
        self.carried_out(&(Arc::new(f) as Program))
    }

    /// Whether only shared pointers and explicit allocations are leaks when they are left behind, and not
    /// a plain `Box`.
    #[doc(hidden)]
    pub fn only_owned_leaks(mut self, on: bool) -> Check {
        self.config.only_owned_leaks = on;
        self
    }

    /// Whether who reads a [`RwLock`](crate::sync::RwLock) already may have to wait, to read it once more, for a thread that waits to
    /// write; so unless set.
    #[doc(hidden)]
    pub fn writers_go_first(mut self, on: bool) -> Check {
        self.config.writers_go_first = on;
        self
    }

    /// Whether threads have memory of their own, which the next execution takes over; on unless set. A
    /// closure that puts what it allocates into what it has captured needs it off. Then memory errors and
    /// leaks are not found.
    #[doc(hidden)]
    pub fn arenas(mut self, on: bool) -> Check {
        self.config.arenas = on;
        self
    }
}

/// A check that is over when an execution is longer than the limit on events.
pub fn ending_at_cut(mut check: Check) -> Check {
    check.config.ends_at_cut = true;
    check
}

/// A check that runs one execution, as a report's token says.
pub fn replaying(mut check: Check, token: &str) -> Check {
    check.config.replay = Some(token.to_string());
    check
}

/// The memory model of a check, once the environment has had its say.
///
/// # Errors
///
/// When a variable has a value that is not understood.
pub fn model(check: &Check) -> Result<String, Error> {
    Ok(check.config.clone().with_process_environment()?.model)
}

/// Carries out a check with a plan of one's own.
///
/// # Errors
///
/// As [`Check::run`].
pub fn run_plan<F>(check: &Check, plan: Box<dyn Plan>, f: F) -> Result<Verdict, Error>
where
    F: Fn() + Send + Sync + 'static,
{
    let config = check.config.clone().with_process_environment()?;
    let program: Program = Arc::new(f);
    api::explore(&config, &program, plan, &mut Lesson::default())
}

/// An execution of a strategy of one's own, under a memory model.
///
/// # Errors
///
/// When there is no such model.
pub fn execution(model: &str, strategy: Box<dyn Strategy>, most_events: usize) -> Result<Execution, Error> {
    Ok(Execution::new(registry::model(model)?, strategy, most_events))
}

/// Whether an execution was repeated that shows no violation any more.
pub fn is_mended(error: &Error) -> bool {
    matches!(error, Error::Token { problem } if problem == MENDED)
}

/// The report of a finding, as a failing check shows it.
pub fn report(finding: &Finding) -> String {
    api::reports(&[finding]).concat()
}

/// Whether the caller is a thread of a program under test.
pub fn in_check() -> bool {
    ops::in_check()
}

/// The number of the calling thread, as that of a [`ThreadId`](crate::thread::ThreadId).
pub fn current() -> u32 {
    ops::name_of(ops::thread())
}

/// Ends the execution with a panic that has left a thread, whoever would join that.
pub fn fail(payload: &(dyn Any + Send)) -> ! {
    panics::end_execution(payload);
    unreachable!("the execution is over")
}

/// A point where other threads may run first, for strategies that decide at each step.
#[track_caller]
pub fn step() {
    ops::guess(1, here!());
}

/// Starts a task of the program under test, with something that it does at its start, before it looks whether
/// it was aborted.
#[track_caller]
pub fn spawn_after<F>(start: impl FnOnce() + 'static, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    future::spawn_after(start, future)
}

/// Says that a thread need not end.
pub fn detach(number: u32) {
    if ops::in_check() {
        ops::detach(ops::named(number));
    }
}

/// How many events there have been in this execution, of all threads.
pub fn events() -> usize {
    ops::events()
}

/// Lets the limit on events count anew, from here on.
pub fn count_events_anew() {
    ops::count_events_anew();
}

/// How many events of each thread happen before the next one of a thread.
pub fn clock(number: u32) -> Vec<u32> {
    ops::view(ops::named(number))
}
