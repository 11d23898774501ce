//! Where random numbers come from.

use std::collections::hash_map::RandomState;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher};

/// A source of random numbers for tests.
pub trait DataSource: Debug {
    /// A source that starts at a seed.
    fn initialize(seed: u64) -> Self;

    /// Starts anew, for another execution; returns where.
    fn reinitialize(&mut self) -> u64;

    /// The next number.
    fn next_u64(&mut self) -> u64;
}

/// Numbers drawn at random: those of one execution follow from its seed, and the seeds from the first.
#[derive(Clone, Debug)]
pub struct RandomDataSource {
    seeds: Random,
    numbers: Random,
}

impl DataSource for RandomDataSource {
    fn initialize(seed: u64) -> RandomDataSource {
        RandomDataSource { seeds: Random(seed), numbers: Random(seed) }
    }

    fn reinitialize(&mut self) -> u64 {
        let seed = self.seeds.next();
        self.numbers = Random(seed);
        seed
    }

    fn next_u64(&mut self) -> u64 {
        self.numbers.next()
    }
}

/// SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let number = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// A seed: that of the environment, or one drawn by the system.
///
/// # Panics
///
/// When the environment has one that is no number.
pub(super) fn seed() -> u64 {
    match std::env::var("SHUTTLE_RANDOM_SEED") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("SHUTTLE_RANDOM_SEED is `{text}`, which is not a whole number")),
        Err(_) => RandomState::new().build_hasher().finish(),
    }
}
