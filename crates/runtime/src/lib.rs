//! Runs user code one thread at a time, on fibers, against the engine of unpick.
//!
//! This is the crate with the unsafe code of the Rust side. It knows no memory model and no
//! strategy; it is given an execution and a closure. Published for front-ends, at `0.x` and
//! without a promise of stability; users want the `unpick` crate.

mod arena;
pub mod clocks;
mod counts;
mod current;
pub mod facts;
mod fiber;
mod freed;
mod frontend;
mod heap;
pub mod interrupt;
mod leaks;
mod lent;
mod limits;
mod loaded;
pub mod locals;
mod memory;
mod objects;
pub mod ops;
mod overwritten;
pub mod panics;
mod parked;
mod pulse;
pub mod queues;
pub mod record;
mod registers;
mod session;
pub mod shared;
mod signals;
pub mod site;
mod stacks;
mod statics;
mod streams;
mod tag;
mod trial;
mod unseen_threads;
mod watching;
mod wording;
pub mod worker;

pub use arena::{Allocator, owned, untracked};
pub use lent::Notes;
pub use limits::Limits;
pub use memory::ordered;
pub use overwritten::writes_over;
pub use pulse::Pulse;
pub use session::{Job, Program};
pub use statics::{claim, is_static};
pub use tag::Tag;
