//! The library as its users see it.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "small programs, and what they do unsafely is the point"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "checked programs may print")]

mod arcs;
mod auto;
mod basics;
mod bounded;
mod broken;
mod channels;
mod checks;
mod counts;
mod detached;
mod errors;
mod freed;
mod futures;
mod hidden;
mod host;
mod interrupts;
mod keep_going;
mod locals;
mod locks;
mod many;
mod marks;
mod memory;
mod objects;
mod os_threads;
mod outside;
mod overflow;
mod owners;
mod panics;
mod passing;
mod pointers;
mod polling;
mod primitives;
mod regressions;
mod reread;
mod rethrown;
mod sampling;
mod settings_macro;
mod spec;
mod statics;
mod strategies;
mod support;
mod surface;
mod tasks;
mod temporaries;
mod threads;
mod time;
mod users;
mod vacuous;
mod violations;
mod weak;
mod words;
