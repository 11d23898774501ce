//! Synchronisation, as in `loom::sync`.

pub mod atomic;
pub mod mpsc;
mod notify;

pub use notify::Notify;
pub use unpick::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockResult, WaitTimeoutResult, Weak,
};
