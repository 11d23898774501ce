//! Random numbers that are the same on every machine: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

use unpick_core::table::{mix, pair};

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    state: u64,
    /// The next number, made ahead: what is decided by it need not wait.
    next: u64,
    /// Coins that were tossed, below a bit that is set.
    coins: u64,
}

impl Draw {
    /// The numbers of one run of a sampler.
    pub(crate) fn new(seed: u64, run: u64) -> Draw {
        let state = pair(seed, run).wrapping_add(STEP);
        Draw { state, next: mix(state), coins: 1 }
    }

    /// The next number.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        std::mem::replace(&mut self.next, mix(self.state))
    }

    /// A number below `bound`, which is not 0.
    #[inline(always)]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// An index into something of this length, which is not 0.
    #[inline(always)]
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Heads or tails.
    #[inline(always)]
    pub(crate) fn coin(&mut self) -> bool {
        if self.coins == 1 {
            self.coins = self.number() | 1 << 63;
        }
        let heads = self.coins & 1 == 1;
        self.coins >>= 1;
        heads
    }

    /// A number from 0 up to 1.
    #[inline(always)]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index into weights, which are not all 0, with that probability.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut at = self.unit() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            if at < *weight {
                return index;
            }
            at -= weight;
        }
        weights.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_even_and_repeat() {
        let size: u32 = if cfg!(miri) { 600 } else { 60_000 };
        let draws = |seed| {
            let mut draw = Draw::new(seed, 3);
            (0..size).map(|_| draw.index(6)).collect::<Vec<_>>()
        };
        let first = draws(1);
        assert_eq!(first, draws(1));
        assert_ne!(first, draws(2));
        let expected = f64::from(size) / 6.0;
        for face in 0..6 {
            let count = first.iter().filter(|&&drawn| drawn == face).count() as f64;
            assert!((count - expected).abs() < 5.0 * (expected * 5.0 / 6.0).sqrt(), "{count}");
        }
    }
}
