//! What has become known about a program as it ran.
//!
//! Some things cost events, and most programs do without. They are left out until an execution needs them. Then the
//! fact is noted, and the exploration starts again. What the facts are, front-ends know; a schedule brings along
//! those that were known when its execution was found, as its [`Knowledge`](crate::schedule::Knowledge).

use crate::op::Site;

/// How many facts a front-end may have.
const COUNT: usize = 16;

/// The fact of all front-ends that says at which places loops ask what time it is so often that time has to pass for them: a
/// [bit](bit_of) for each.
pub const TIME_PASSES: usize = COUNT - 1;

/// The fact of all front-ends that says where threads that go round ask what time it is, so that it is explored whether time has
/// passed: a bit for each place.
pub const TIME_IS_ASKED: usize = COUNT - 2;

/// The fact of all front-ends that says at which places loops wait whose rounds sleep, or wait with a limit on time: how long they take is
/// explored where the clock is looked at later. A bit for each place.
pub const TIME_IS_SPENT: usize = COUNT - 3;

/// The bit of a place. Places may share one, which costs time and nothing else.
pub fn bit_of(site: Site) -> u64 {
    1 << (site.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// Facts, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts([u64; COUNT]);

impl Facts {
    /// The facts that a schedule brings along.
    pub fn new(bits: &[u64]) -> Facts {
        let mut facts = Facts([0; COUNT]);
        facts.0.iter_mut().zip(bits).for_each(|(fact, &bits)| *fact = bits);
        facts
    }

    /// All bits.
    pub fn bits(&self) -> &[u64] {
        &self.0
    }

    /// The bits of a fact.
    #[inline(always)]
    pub fn get(&self, fact: usize) -> u64 {
        self.0[fact]
    }

    /// Sets bits of a fact. Whether that is new.
    #[inline(always)]
    pub fn learn(&mut self, fact: usize, bits: u64) -> bool {
        let known = self.0[fact];
        self.0[fact] = known | bits;
        known | bits != known
    }
}

#[cfg(test)]
mod tests {
    use super::Facts;

    #[test]
    fn a_fact_is_new_once() {
        let mut facts = Facts::new(&[1]);
        assert!(!facts.learn(0, 1) && facts.learn(1, 6) && !facts.learn(1, 2));
        assert_eq!(facts.bits()[..3], [1, 6, 0]);
        assert_eq!((Facts::new(facts.bits()), facts.get(1)), (facts, 6));
    }
}
