//! Several schedulers at the same time.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use unpick::stand_in;

use crate::config::Config;
use crate::runner::Runner;
use crate::scheduler::Scheduler;

/// Runs a test under several schedulers, each on an OS thread.
pub struct PortfolioRunner {
    schedulers: Vec<Box<dyn Scheduler + Send>>,
    stop_on_first_failure: bool,
    config: Config,
}

impl PortfolioRunner {
    /// A runner without schedulers. `stop_on_first_failure`: when one has found a failure, executions of the
    /// others are over as soon as they begin.
    pub fn new(stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner { schedulers: Vec::new(), stop_on_first_failure, config }
    }

    /// Adds a scheduler.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.schedulers.push(Box::new(scheduler));
    }

    /// Runs the test under all of them.
    ///
    /// # Panics
    ///
    /// With the report of one that found a failure.
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        let PortfolioRunner { schedulers, stop_on_first_failure, config } = self;
        let (f, stopped) = (Arc::new(f), Arc::new(AtomicBool::new(false)));
        let workers = schedulers.into_iter().map(|scheduler| {
            let (f, stopped, config) = (Arc::clone(&f), Arc::clone(&stopped), config.clone());
            std::thread::spawn(move || {
                let over = Arc::clone(&stopped);
                let test = move || {
                    if !over.load(Ordering::Relaxed) {
                        f();
                    }
                };
                let result = catch_unwind(AssertUnwindSafe(|| Runner::new(scheduler, config).run(test)));
                if result.is_err() && stop_on_first_failure {
                    stopped.store(true, Ordering::Relaxed);
                }
                result
            })
        });
        // All are started before the first is waited for.
        let workers: Vec<_> = workers.collect();
        let mut failure = None;
        for worker in workers {
            if let Ok(Err(payload)) | Err(payload) = worker.join() {
                failure.get_or_insert(payload);
            }
        }
        debug_assert!(!stand_in::in_check(), "a portfolio runs outside of checks");
        if let Some(payload) = failure {
            resume_unwind(payload);
        }
    }
}

impl fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortfolioRunner")
            .field("schedulers", &self.schedulers.len())
            .field("stop_on_first_failure", &self.stop_on_first_failure)
            .field("config", &self.config)
            .finish()
    }
}
