//! What loom has for leaving parts of a program unexplored.
//!
//! There, what is decided in such a part is decided once: no other thread and no older store is tried. That saves
//! time, at the cost of executions that are not seen. Which decisions are in the part depends on the interleaving, and an execution is
//! a graph here, which has none. So every part is explored: what was left out of account with loom may show a
//! violation.

/// How many threads loom can have in a model, the first one included. Here there is no such limit.
pub const MAX_THREADS: usize = 5;

/// With loom, goes on exploring after [`stop_exploring`]. Here it does nothing: all is explored.
pub fn explore() {}

/// With loom, takes one way only through what follows. Here it does nothing: all is explored.
pub fn stop_exploring() {}

/// With loom, takes one way only through the rest of the execution. Here it does nothing: all is explored.
pub fn skip_branch() {}
