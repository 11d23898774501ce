//! Names for addresses of compiled programs, from the notes that compilers leave for debuggers.
//!
//! An address is told as a module (the program or a shared library) and an offset: the address less the base that the module was
//! loaded at, which is what `dl_iterate_phdr` gives and what the module's own tables are in.
//!
//! ```no_run
//! let names = unpick_names::Names::default();
//! let module = names.module("./a.out".as_ref())?;
//! for frame in module.call(0x1189) {
//!     println!("{frame}");
//! }
//! if let Some(variable) = module.variable(0x4060, 8) {
//!     println!("{variable}"); // table[3].next
//! }
//! # Ok::<(), unpick_names::Error>(())
//! ```
//!
//! | module | does |
//! |---|---|
//! | `module` | a file, its symbols and its notes |
//! | `frames` | code: functions, inlined ones included, and lines |
//! | `index` | which variables and types there are |
//! | `shape` | from a type and an offset to a field or an element |
//! | `heap` | the type of a heap block, from where it was allocated |
//! | `locals` | variables on a stack |
//! | `source` | lines of the source |
//!
//! What is not there has no name: nothing here fails because a program was compiled without `-g`.

#![forbid(unsafe_code)]

mod frames;
mod heap;
mod index;
mod locals;
mod module;
mod shape;
mod source;

pub use frames::{Frame, demangled};
pub use locals::OnStack;
pub use module::{Error, Module, Names};
pub use shape::Variable;
