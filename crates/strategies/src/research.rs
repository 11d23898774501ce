//! Strategies for research: to compare with, to try ideas, and for the plan `auto` to draw on.
//!
//! Nobody needs them by name to check a program: a proof is for `optimal`, few preemptions are for `in_order`, and draws are for
//! `pct` and `random`. So users see them last, and they may change or go.
//!
//! | module | what it searches |
//! |---|---|
//! | [`trace`] | orders of steps under sequential consistency: nine methods from papers |
//! | `weights` | samplers `urw` and `surw`: threads by what they have left to do |
//! | `pos` | sampler: priorities of accesses |
//! | `greybox` | sampler: a fuzzer guided by which reads see which writes |
//! | `digest` | sampler: decisions that lead to what has not been seen yet |

pub(crate) mod digest;
pub(crate) mod greybox;
pub(crate) mod pos;
pub mod trace;
pub(crate) mod weights;
