//! unpick finds concurrency bugs, and proves their absence within stated bounds.
//!
//! ```
//! use std::sync::Arc;
//! use unpick::sync::atomic::{AtomicUsize, Ordering};
//! use unpick::thread;
//!
//! unpick::check(|| {
//!     let count = Arc::new(AtomicUsize::new(0));
//!     let other = Arc::clone(&count);
//!     let thread = thread::spawn(move || {
//!         other.fetch_add(1, Ordering::Relaxed);
//!     });
//!     count.fetch_add(1, Ordering::Relaxed);
//!     thread.join().unwrap();
//!     assert_eq!(count.load(Ordering::Relaxed), 2);
//! });
//! ```
//!
//! [`check`] runs the closure once for every execution that the memory model allows: every
//! interleaving that makes a difference, and every value that a weakly ordered load may see. The
//! closure must be deterministic apart from what unpick's types bring in, and must create the
//! objects that its threads share. Types mirror `std` name for name, and behave as `std`'s outside
//! a check.
//!
//! # Meaning
//!
//! - The default memory model is that of C++20, which Rust follows, without load buffering.
//! - A panic is a violation, unless it happens in a spawned thread whose `join` result the program
//!   looks at. All threads must end: one that waits for ever is a deadlock or a livelock.
//! - A loop that only reads and comes back to the same state is a loop that waits. It needs no
//!   annotation. A loop with a counter runs until it ends, or is cut at a limit that the verdict
//!   names.
//! - Memory that a checked thread allocates is not used again within an execution, and belongs to
//!   the next execution after it. What is to be kept is allocated inside [`outside`].

mod api;
#[doc(hidden)]
pub mod attribute;
pub mod cell;
pub mod collections;
pub mod future;
pub mod hash;
pub mod hint;
mod keep_going;
pub mod process;
mod replay;
pub mod sync;
mod telling;
pub mod thread;
pub mod time;

pub use api::{Check, assume, await_until, check, choose, label, outside};
pub use unpick_check::{Detached, Error, OnInconclusive, Reason, Statistics, Summary, Verdict, Violated};
pub use unpick_core::trace;
/// Makes a function a test that is checked in every execution: `#[test]` and [`fn@check`] in one.
///
/// ```
/// use std::sync::Arc;
/// use unpick::sync::atomic::{AtomicUsize, Ordering};
/// use unpick::thread;
///
/// #[unpick::test(model = "sc", time = "10s")]
/// fn increments_add_up() {
///     let count = Arc::new(AtomicUsize::new(0));
///     let theirs = Arc::clone(&count);
///     let other = thread::spawn(move || theirs.fetch_add(1, Ordering::Relaxed));
///     count.fetch_add(1, Ordering::Relaxed);
///     other.join().unwrap();
///     assert_eq!(count.load(Ordering::Relaxed), 2);
/// }
/// ```
///
/// The function takes no arguments. It may return a `Result`, whose error fails the execution, and may
/// be `async`: [`future::block_on`] runs it then. Other attributes are kept.
///
/// Settings are those of [`Check`], and the environment overrides them here too:
///
/// | setting | value |
/// |---|---|
/// | `model` | a memory model, such as `"sc"` |
/// | `executions`, `events`, `rounds` | a number: at most so many |
/// | `time`, `hang` | a time, such as `"10s"` |
/// | `stack_size` | bytes |
/// | `spurious` | `true`: `compare_exchange_weak` may fail without a reason |
/// | `inconclusive` | `"fail"` or `"pass"` |
/// | `keep_going` | violations to find, or `true` for all that differ |
/// | `detached` | `"must-end"` or `"abandoned"` |
/// | `replay` | a token from a report |
/// | `progress` | `true` or `false` |
/// | `crate` | where this crate is, if not at `::unpick`, such as `"my_checks::unpick"` |
pub use unpick_macros::test;
pub use unpick_report as report;
pub use unpick_runtime::Allocator;

#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator::new(std::alloc::System);

/// The place of the caller.
macro_rules! here {
    () => {
        unpick_runtime::site::site(std::panic::Location::caller())
    };
}
pub(crate) use here;
