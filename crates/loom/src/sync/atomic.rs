//! Atomics, as in `loom::sync::atomic`.
//!
//! Besides the methods of `std` they have `with_mut`, which is `get_mut` for closures, and `unsync_load`, a
//! load without any synchronisation. Every load may see any value that the memory model allows, however old,
//! and so may a `compare_exchange` that fails.

pub use unpick::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// Says that the caller is waiting in a loop: the old name of [`spin_loop`](crate::hint::spin_loop).
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}
