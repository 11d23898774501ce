//! Brute-force truth for small programs: what an engine is measured against.
//!
//! A [`Program`] is plain data with a text form. [`oracle::enumerate`] lists every consistent
//! execution graph of it by trying all thread traces, all `rf` and all `mo`, and keeping what the
//! axioms of the memory model accept. The rule of this crate: nothing in the oracle is shared with,
//! or borrowed from, the engine it judges.
#![forbid(unsafe_code)]

mod axioms;
pub mod bounded;
mod code;
pub mod compare;
pub mod drive;
pub mod family;
pub mod fibers;
pub mod generate;
pub mod interleave;
pub mod key;
mod lexer;
pub mod litmus;
mod model;
pub mod oracle;
mod parse;
mod places;
pub mod preempt;
mod print;
pub mod program;
mod random;
mod relation;
pub mod rounds;
pub mod samples;
pub mod source;
mod trace;
pub mod traces;
pub mod waiting;

pub use code::{Code, Machine, Step};
pub use key::Key;
pub use model::Model;
pub use oracle::{Options, Outcome, TooLarge, Truth, enumerate};
pub use parse::ParseError;
pub use program::Program;
pub use random::Random;
