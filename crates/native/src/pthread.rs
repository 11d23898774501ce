//! Locks and other objects of pthreads.

mod barrier;
pub(crate) mod cond;
pub(crate) mod mutex;
pub(crate) mod once;
mod rwlock;
mod semaphore;
mod spinlock;
