//! Synchronisation, as in [`std::sync`]. [`Arc`] and [`Weak`] are those of `std`.

mod signature;
mod wide;

pub use signature::{ResourceSignature, ResourceType};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
pub use unpick::sync::{
    Barrier, BarrierWaitResult, Condvar, Mutex, MutexGuard, Once, OnceState, RwLock, RwLockReadGuard,
    RwLockWriteGuard, WaitTimeoutResult,
};

/// Atomics, as in [`std::sync::atomic`].
pub mod atomic {
    pub use super::wide::{AtomicI128, AtomicU128};
    pub use unpick::sync::atomic::*;
}

/// Channels, as in [`std::sync::mpsc`].
pub mod mpsc {
    pub use unpick::sync::mpsc::*;
}
