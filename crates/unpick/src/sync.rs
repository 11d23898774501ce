//! Synchronisation, as in [`std::sync`].

pub mod atomic;
mod mutex;
mod raw_mutex;

pub use mutex::{Mutex, MutexGuard};
pub use raw_mutex::RawMutex;
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
