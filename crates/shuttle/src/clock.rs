//! Vector clocks: what a thread knows of the others.

use std::cmp::Ordering;
use std::ops::Deref;

/// How many steps of each thread happen before a point. Threads that are not in it count as 0.
#[derive(Clone, Debug, Default)]
pub struct VectorClock(Vec<u32>);

impl VectorClock {
    /// A clock that knows of nothing.
    pub const fn new() -> VectorClock {
        VectorClock(Vec::new())
    }

    /// How many steps of a thread it knows of.
    pub fn get(&self, thread: usize) -> u32 {
        self.0.get(thread).copied().unwrap_or(0)
    }
}

impl From<Vec<u32>> for VectorClock {
    fn from(clock: Vec<u32>) -> VectorClock {
        VectorClock(clock)
    }
}

impl From<&[u32]> for VectorClock {
    fn from(clock: &[u32]) -> VectorClock {
        VectorClock(clock.to_vec())
    }
}

impl<const N: usize> From<&[u32; N]> for VectorClock {
    fn from(clock: &[u32; N]) -> VectorClock {
        VectorClock(clock.to_vec())
    }
}

impl Deref for VectorClock {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &VectorClock) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl Eq for VectorClock {}

impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &VectorClock) -> Option<Ordering> {
        let threads = 0..self.0.len().max(other.0.len());
        let (less, greater) = threads.fold((false, false), |(less, greater), thread| {
            let order = self.get(thread).cmp(&other.get(thread));
            (less || order == Ordering::Less, greater || order == Ordering::Greater)
        });
        match (less, greater) {
            (true, true) => None,
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => Some(Ordering::Equal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_ordered_by_what_they_know() {
        let clock = |known: &[u32]| VectorClock::from(known);
        assert!(clock(&[1, 2]) < clock(&[1, 3]));
        assert!(clock(&[1]) < clock(&[1, 1]));
        assert_eq!(clock(&[1, 0]), clock(&[1]));
        assert_eq!(clock(&[1, 2]).partial_cmp(&clock(&[2, 1])), None);
    }
}
