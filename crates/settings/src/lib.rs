//! The settings of a check, as one table: [`SETTINGS`].
//!
//! Whoever takes settings takes them from here: the environment (`unpick_check::config`), the flags of the command line, and
//! the attribute `unpick::test`, which is why this crate depends on nothing. Published for these, at `0.x` and without a
//! promise of stability.

#![forbid(unsafe_code)]

mod kind;
mod nearest;
mod table;

pub use kind::{Kind, Value, parse_duration};
pub use nearest::unknown;
pub use table::{SETTINGS, Setting};
