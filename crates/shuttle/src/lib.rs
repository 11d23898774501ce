//! [Shuttle](https://docs.rs/shuttle)'s API on unpick.
//!
//! ```toml
//! [dev-dependencies]
//! shuttle = { package = "unpick-shuttle", version = "0.1" }
//! ```
//!
//! Then tests that were written for Shuttle run on unpick: the same calls, and reports that tell what went
//! wrong step by step.
//!
//! ```
//! use std::sync::Arc;
//! use unpick_shuttle as shuttle;
//! use shuttle::sync::Mutex;
//! use shuttle::thread;
//!
//! shuttle::check_random(
//!     || {
//!         let number = Arc::new(Mutex::new(0));
//!         let theirs = Arc::clone(&number);
//!         let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
//!         *number.lock().unwrap() += 1;
//!         other.join().unwrap();
//!         assert_eq!(*number.lock().unwrap(), 2);
//!     },
//!     100,
//! );
//! ```
//!
//! What is the same:
//!
//! - Memory is sequentially consistent: every operation on an atomic counts as `SeqCst`.
//! - A panic in any thread or task fails the test, whoever joins it. So does a deadlock.
//! - Waits with a limit on time never give up.
//! - Memory is that of the system: a test may collect things over many executions.
//!
//! What is different is in `docs/shuttle.md` of the repository. In short: [`check_dfs`] runs one execution of
//! each equivalence class, and not every interleaving; a loop that waits for ever is found as a
//! livelock instead of running into [`MaxSteps`]; schedules are unpick's own, and those of Shuttle are refused.
//!
//! # Weak memory
//!
//! [`Config::weak_memory`] checks under the memory model of C++20, which Rust's is, instead: loads may see
//! stale values as far as their orderings allow. `UNPICK_MODEL=cpp20` in the environment does so for
//! all tests.

#![forbid(unsafe_code)]

pub mod annotations;
#[doc(hidden)]
pub mod before;
mod clock;
mod config;
mod context;
pub mod current;
#[doc(hidden)]
pub mod engine;
mod entry;
pub mod future;
pub mod hint;
mod labels;
pub mod lazy_static;
mod portfolio;
pub mod rand;
mod runner;
pub mod scheduler;
mod strategy;
pub mod sync;
pub mod thread;

pub use config::{
    Config, ContinuationFunctionBehavior, FailurePersistence, MaxSteps, UngracefulShutdownConfig,
};
#[cfg(feature = "annotation")]
pub use entry::annotate_replay;
pub use entry::{
    check, check_dfs, check_pct, check_random, check_random_with_seed, check_uncontrolled_nondeterminism,
    check_urw, replay, replay_from_file,
};
pub use portfolio::PortfolioRunner;
pub use runner::Runner;
/// Declares thread-locals, as [`std::thread_local!`]: each thread and each task has its own.
pub use unpick::thread_local;

/// The variable that has Shuttle collect call stacks. Reports of unpick have them in any case.
pub const CAPTURE_BACKTRACE: &str = "SHUTTLE_CAPTURE_BACKTRACE";

/// The variable that silences Shuttle's warnings. There are none here.
pub const SILENCE_WARNINGS: &str = "SHUTTLE_SILENCE_WARNINGS";

/// The variable that names the file of [`AnnotationScheduler`](scheduler::AnnotationScheduler).
pub const ANNOTATION_FILE: &str = "SHUTTLE_ANNOTATION_FILE";

/// Declares statics that are made when they are first used, once in each execution.
///
/// ```
/// use unpick_shuttle::lazy_static;
///
/// lazy_static! {
///     static ref NUMBERS: Vec<u32> = vec![1, 2];
/// }
/// unpick_shuttle::check_random(|| assert_eq!(NUMBERS.len(), 2), 10);
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$meta:meta])* $vis:vis static ref $name:ident : $type:ty = $value:expr;)*) => {$(
        $crate::__lazy_static!($(#[$meta])* $vis $name: $type = $value);
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __lazy_static {
    ($(#[$meta:meta])* $vis:vis $name:ident : $type:ty = $value:expr) => {
        #[allow(non_camel_case_types, dead_code)]
        $(#[$meta])*
        $vis struct $name {
            private: (),
        }
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        $vis static $name: $name = $name { private: () };
        impl ::std::ops::Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                fn make() -> $type {
                    $value
                }
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(make);
                LAZY.get()
            }
        }
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
    };
}
