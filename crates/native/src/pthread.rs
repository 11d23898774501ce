//! Locks and other objects of pthreads.

mod barrier;
mod cond;
mod mutex;
mod once;
mod rwlock;
mod semaphore;
mod spinlock;
