//! The samplers by name.

use unpick_core::strategy::Strategy;

use super::Sampler;
use super::walk::Walk;

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

fn boxed<P: super::Policy + 'static>(policy: P, settings: Settings) -> Box<dyn Strategy> {
    Box::new(Sampler::new(policy, settings.seed, settings.spurious))
}
