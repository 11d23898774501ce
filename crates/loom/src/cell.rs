//! Cells, as in `loom::cell`, whose accesses are checked for data races.

mod unsafe_cell;
mod value;

pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
pub use value::Cell;
