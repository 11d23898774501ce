//! A stand-in for [loom](https://docs.rs/loom/0.7.2): the same names, on the engine of unpick.
//!
//! ```toml
//! [target.'cfg(loom)'.dependencies]
//! loom = { package = "unpick-loom", version = "0.1" }
//! ```
//!
//! Tests stay as they are:
//!
//! ```
//! # use unpick_loom as loom;
//! use loom::sync::atomic::{AtomicUsize, Ordering};
//! use loom::sync::Arc;
//! use loom::thread;
//!
//! loom::model(|| {
//!     let count = Arc::new(AtomicUsize::new(0));
//!     let theirs = count.clone();
//!     let other = thread::spawn(move || theirs.fetch_add(1, Ordering::Relaxed));
//!     count.fetch_add(1, Ordering::Relaxed);
//!     other.join().unwrap();
//!     assert_eq!(2, count.load(Ordering::Relaxed));
//! });
//! ```
//!
//! [`model`](fn@model) runs the closure once for every execution that the C++20 memory model allows, without load
//! buffering, and panics with a report if one is wrong. Where loom gives a false alarm or leaves executions
//! out, this does not; `docs/loom.md` in the repository lists each difference. Most types are those of the
//! `unpick` crate, and have more methods than loom's.

#[cfg(test)]
extern crate self as loom;

pub mod alloc;
pub mod cell;
mod exploring;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
mod settings;
pub mod sync;
pub mod thread;

pub use exploring::{MAX_THREADS, explore, skip_branch, stop_exploring};
#[doc(inline)]
pub use model::model;
pub use unpick::thread_local;

/// The place of the caller.
macro_rules! here {
    () => {
        unpick_runtime::site::site(std::panic::Location::caller())
    };
}
pub(crate) use here;
