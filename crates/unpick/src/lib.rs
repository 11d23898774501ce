//! unpick finds concurrency bugs, and proves their absence within stated bounds.
//!
//! ```
//! use unpick::sync::Arc;
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

//!
//! # Switching it on
//!
//! Code under test uses `unpick::sync`, `unpick::thread` and so on where it would use `std`. What
//! these are is decided by the feature `check`, which belongs into `[dev-dependencies]`:
//!
//! ```toml
//! [dependencies]
//! unpick = { path = "../unpick/crates/unpick" }
//!
//! [dev-dependencies]
//! unpick = { path = "../unpick/crates/unpick", features = ["check"] }
//! ```
//!
//! The path is that of a clone: unpick is not on crates.io yet.
//!
//! Then `cargo test` checks, and an ordinary build has `std`'s own types, at no cost. `--cfg unpick`
//! in `RUSTFLAGS` is the explicit twin of the feature. Cargo turns the feature on for examples and
//! benches as well, since they may use dev-dependencies; there, outside a check, the types behave
//! as `std`'s and cost a little.

#[cfg(any(feature = "check", unpick))]
pub mod alloc;
#[cfg(any(feature = "check", unpick))]
mod api;
#[doc(hidden)]
#[cfg(any(feature = "check", unpick))]
pub mod attribute;
#[cfg(any(feature = "check", unpick))]
pub mod cell;
#[cfg(any(feature = "check", unpick))]
pub mod collections;
#[cfg(any(feature = "check", unpick))]
mod files;
#[cfg(any(feature = "check", unpick))]
pub mod future;
#[cfg(any(feature = "check", unpick))]
pub mod hash;
#[cfg(any(feature = "check", unpick))]
pub mod hint;
#[cfg(any(feature = "check", unpick))]
mod inside;
#[cfg(any(feature = "check", unpick))]
mod learning;
#[cfg(any(feature = "check", unpick))]
pub mod process;
#[cfg(any(feature = "check", unpick))]
mod replay;
#[cfg(any(feature = "check", unpick))]
mod reporting;
#[doc(hidden)]
#[cfg(any(feature = "check", unpick))]
pub mod stand_in;
#[cfg(any(feature = "check", unpick))]
pub mod sync;
#[cfg(any(feature = "check", unpick))]
pub mod thread;
#[cfg(any(feature = "check", unpick))]
pub mod time;

#[cfg(any(feature = "check", unpick))]
pub use api::{Check, check};
#[cfg(any(feature = "check", unpick))]
pub use inside::{assume, await_until, choose, label, outside};
#[cfg(any(feature = "check", unpick))]
pub use unpick_check::{
    Coverage, Detached, Error, OnInconclusive, Reason, Statistics, Summary, Timeouts, Traces, Vacuous,
    Verdict, Violated,
};
#[cfg(any(feature = "check", unpick))]
pub use unpick_core::trace;
/// Makes a function a test that is checked in every execution: `#[test]` and [`fn@check`] in one.
///
/// ```
/// use unpick::sync::Arc;
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
/// Settings have the name in the second column, or that of the method of [`Check`], and the environment overrides them here
/// too. Texts and times are in quotes, numbers are not; `true` and `false` stand for `on` and `off`. `keep_going = true` looks for
/// all violations that differ. `crate` says where this crate is, if not at `::unpick`, such as `"my_checks::unpick"`.
///
/// | variable | attribute | `Check` | values | default | meaning |
/// |---|---|---|---|---|---|
#[cfg_attr(any(feature = "check", unpick), doc = unpick_macros::settings!())]
///
/// Without the feature `check` the function is left out: an ordinary build has nothing of it, and `cargo test` lists the test as
/// one that was passed over, and why.
#[cfg(any(feature = "check", unpick))]
pub use unpick_macros::test;
#[cfg(any(feature = "check", unpick))]
pub use unpick_report as report;
#[cfg(any(feature = "check", unpick))]
pub use unpick_runtime::Allocator;

#[cfg_attr(
    any(feature = "check", unpick),
    allow(unreachable_pub, reason = "users see it only without checks")
)]
mod plain_lock;

#[cfg_attr(
    any(feature = "check", unpick),
    allow(unreachable_pub, reason = "users see some of it only without checks")
)]
mod plain_task;

#[cfg(not(any(feature = "check", unpick)))]
mod plain;
#[cfg(not(any(feature = "check", unpick)))]
pub use plain::*;

#[cfg(all(any(feature = "check", unpick), not(feature = "own-allocator")))]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator::new(std::alloc::System);

/// The place of the caller.
#[cfg(any(feature = "check", unpick))]
macro_rules! here {
    () => {
        unpick_runtime::site::site(std::panic::Location::caller())
    };
}
#[cfg(any(feature = "check", unpick))]
pub(crate) use here;
