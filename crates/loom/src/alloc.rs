//! Allocation, as in `loom::alloc`.
//!
//! With unpick's global allocator every block that a model allocates is watched, whoever allocates it. So
//! these functions are those of the standard library, and leaks of a plain `Box` are found too.

pub use unpick::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
