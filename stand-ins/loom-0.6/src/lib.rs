//! `unpick-loom` by the name and version of loom, which is what cargo's `[patch.crates-io]` asks for.

pub use unpick_loom::*;
