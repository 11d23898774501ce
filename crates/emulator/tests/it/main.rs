//! The emulator against the processor: the same code is run both ways, and everything is compared.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod flow;
mod fuzz;
mod limits;
mod random;
mod stack;
mod stage;
