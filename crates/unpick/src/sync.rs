//! Synchronisation, as in [`std::sync`].

mod arc;
pub mod atomic;
pub mod mpsc;
mod mutex;
mod raw_mutex;

pub use arc::{Arc, Weak};
pub use mutex::{Mutex, MutexGuard};
pub use raw_mutex::RawMutex;
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
