//! The samplers by name.

use unpick_core::strategy::Strategy;

use super::Sampler;
use super::pct::Pct;
use super::walk::Walk;
use crate::research::digest::Digest;
use crate::research::greybox::Greybox;
use crate::research::pos::Pos;
use crate::research::weights::{Surw, Urw};

/// What every sampler needs.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Where random numbers start.
    pub seed: u64,
    /// Whether weak exchanges may fail without a reason.
    pub spurious: bool,
}

/// Any thread at each step.
pub fn random(settings: Settings) -> Box<dyn Strategy> {
    boxed(Walk, settings)
}

/// Threads by how much they have left to do.
pub fn urw(settings: Settings) -> Box<dyn Strategy> {
    boxed(Urw::default(), settings)
}

/// Threads by how many accesses to one location they have left.
pub fn surw(settings: Settings) -> Box<dyn Strategy> {
    boxed(Surw::default(), settings)
}

/// Priorities that change at `depth - 1` random points; without a depth another one in each run.
pub fn pct(depth: Option<u32>, settings: Settings) -> Box<dyn Strategy> {
    boxed(Pct::new(depth), settings)
}

/// Priorities of accesses, drawn anew when accesses race.
pub fn pos(settings: Settings) -> Box<dyn Strategy> {
    boxed(Pos::default(), settings)
}

/// A fuzzer of abstract schedules.
pub fn greybox(settings: Settings) -> Box<dyn Strategy> {
    boxed(Greybox::default(), settings)
}

/// Decisions that lead to what has not been seen yet.
pub fn digest(settings: Settings) -> Box<dyn Strategy> {
    boxed(Digest::default(), settings)
}

fn boxed<P: super::Policy + 'static>(policy: P, settings: Settings) -> Box<dyn Strategy> {
    Box::new(Sampler::new(policy, settings.seed, settings.spurious))
}
