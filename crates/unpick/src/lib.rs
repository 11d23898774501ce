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
//! - Memory errors are violations: use after free, double free, objects in memory that nothing was
//!   written to, leaks, and crashes. [`alloc`] says what is seen of them.
//! - Memory that a checked thread allocates is not used again within an execution, and belongs to
//!   the next execution after it. What is to be kept is allocated inside [`outside`].

pub mod alloc;
mod api;
pub mod cell;
pub mod hint;
mod replay;
pub mod sync;
mod telling;
pub mod thread;

pub use api::{Check, assume, await_until, check, choose, label, outside};
pub use unpick_check::{Error, OnInconclusive, Reason, Statistics, Summary, Verdict, Violated};
pub use unpick_core::trace;
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
