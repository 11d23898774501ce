//! unpick on the command line.
//!
//! It links no front-end: it starts cargo, which builds and runs the programs under test, and
//! reads what they leave behind. `unpick` is the program; `cargo-unpick`, `unpick-cc` and `unpick-cxx` start it by these names.
//!
//! | module | does |
//! |---|---|
//! | `args` | what can be typed |
//! | `flags` | flags of settings, from their table |
//! | `run` | from arguments to an exit code |
//! | `demo` | an example with a bug, and its report |
//! | `compare` | strategies side by side, on the bench of bugs |
//! | `cc` | the compiler for C and C++, with the runtime |
//! | `cargo` | `cargo test` with settings, and replay |
//! | `checks` | the table of checks at the end of `unpick test` |
//! | `native` | checks of C and C++ programs |
//! | `explain` | a JSON report made readable |
//! | `migrate` | what a crate uses of loom or Shuttle |
//! | `list` | memory models and settings |
//! | [`exit`] | what exit codes mean |
//! | `error` | what can go wrong |

#![forbid(unsafe_code)]

mod args;
mod cargo;
mod cc;
mod checks;
mod compare;
mod demo;
mod error;
pub mod exit;
mod explain;
mod flags;
mod list;
mod migrate;
mod native;
mod run;

pub use exit::Exit;
pub use run::main;
