//! The library as its users see it.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "small programs, and what they do unsafely is the point"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "checked programs may print")]

mod basics;
mod errors;
mod host;
mod locks;
mod memory;
mod outside;
mod panics;
mod regressions;
mod statics;
mod support;
mod threads;
mod violations;
mod weak;
mod words;
