//! Runs a piece of the program's own machine code once more, and notes which memory it touches.
//!
//! A thread of the program is suspended in a call of the checker, and the question is what one more
//! round of its loop would do. So the code is run from there, instruction by instruction, in place: on
//! the real memory of the process. Each byte that it touches is noted with what it held
//! ([`Footprint`]), and [`Footprint::restore`] puts everything back. Calls that leave the piece are
//! answered by a [`Host`].
//!
//! The result is a claim about the program, so it must be exact. Instructions are therefore not
//! interpreted: each is executed by the processor, out of line, on a copy of its operands (`stub`); by
//! hand is done only what concerns control flow, the stack and strings (`decode`, `machine`). What is
//! not understood ends the run with an [`Obstacle`], which is always safe.
//!
//! Between [`Machine::begin`] and [`Footprint::restore`] the heap of the process may be in a state that
//! only the piece has made, and that is taken back at the end. The emulator allocates nothing from it
//! meanwhile: all that it needs is reserved when a machine is made, and footprints are in pages of their
//! own. Hosts must keep to that too.
//!
//! It works on x86-64 Linux; elsewhere [`is_supported`] is false, and every run ends with
//! [`Obstacle::Unsupported`].

#![cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    allow(dead_code, reason = "footprints are made on x86-64 Linux only")
)]

mod block;
mod dead;
mod footprint;
mod log;
mod obstacle;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86 {
    //! What is of x86-64 Linux only.
    pub(crate) mod code;
    pub(crate) mod dead;
    pub(crate) mod decode;
    pub(crate) mod library;
    pub(crate) mod machine;
    mod operands;
    pub(crate) mod probe;
    pub(crate) mod step;
    pub(crate) mod strings;
    pub(crate) mod stub;
}
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use x86::dead::dead_registers;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use x86::machine::{Machine, is_supported};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use x86::probe;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod elsewhere;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
use elsewhere::probe;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub use elsewhere::{Machine, dead_registers, is_supported};

mod host;
mod registers;

pub use block::keep_in_allocator;
pub use dead::Dead;
pub use footprint::Footprint;
pub use host::{Enter, Host};
pub use obstacle::{Name, Obstacle};
pub use registers::*;
