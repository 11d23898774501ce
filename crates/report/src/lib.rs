//! Reports: a violation made readable, for people and for programs.
//!
//! The input is plain data, [`Finding`](unpick_core::trace::Finding); the output is text. Nothing
//! here prints, knows the time or decides what is wrong with a program. The one thing read from
//! outside is the source of the program under test, in [`source`](mod@source). Published at `0.x`
//! and without a promise of stability, but for the format of [`json`](mod@json); users want the
//! `unpick` crate.
//!
//! | module | gives |
//! |---|---|
//! | [`text`](mod@text) | the failing execution for a terminal of any width |
//! | [`json`](mod@json) | the same, complete, for other programs |
//! | [`source`](mod@source) | lines of source, and names of objects taken from them |
//! | [`progress`] | the line that a long check shows |
//! | [`ledger`] | the table of all checks of a run |

#![forbid(unsafe_code)]

pub mod json;
pub mod ledger;
pub mod progress;
pub mod source;
pub mod text;

pub use crate::json::{json, read};
pub use crate::progress::Progress;
pub use crate::source::{Sources, receiver};
pub use crate::text::{TextOptions, numbered, text};
