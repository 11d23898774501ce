//! What the crate is without checks: `std`'s own types under the names that checked code uses.

pub mod future;

pub use std::thread_local;
/// Leaves a function out that would be checked. `cargo test` lists it as a test that was passed over, and why.
pub use unpick_macros::test;

/// Synchronisation: [`std::sync`].
pub mod sync {
    pub use crate::plain_lock::RawMutex;
    pub use std::sync::*;
}

/// Threads: [`std::thread`].
pub mod thread {
    pub use std::thread::*;
}

/// Time: [`std::time`].
pub mod time {
    pub use std::time::*;
}

/// Processes: [`std::process`].
pub mod process {
    pub use std::process::*;
}

/// Memory: [`std::alloc`].
pub mod alloc {
    pub use std::alloc::*;
}

/// Hashing: [`std::hash`].
pub mod hash {
    pub use std::hash::*;
}

/// Collections: [`std::collections`].
pub mod collections {
    pub use std::collections::*;
}

/// Hints: [`std::hint`].
pub mod hint {
    pub use std::hint::*;
}

/// Cells: [`std::cell`], and an `UnsafeCell` with the calls that checks can see.
pub mod cell {
    mod unsafe_cell;

    pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};
    pub use unsafe_cell::UnsafeCell;
}

/// Adds a remark to the report of a failing execution; does nothing without checks.
#[inline(always)]
pub fn label(_text: impl std::fmt::Display) {}

/// Runs a closure whose allocations outlive the execution; without checks, just runs it.
#[inline(always)]
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// Waits until a condition holds.
pub fn await_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
