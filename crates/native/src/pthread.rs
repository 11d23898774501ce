//! Locks and other objects of pthreads.

mod mutex;
