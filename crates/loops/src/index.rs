//! Numbers that are found by fingerprints: as [`std::collections::HashMap`], for many lookups that find nothing.

/// Finds numbers by fingerprints. Several may have the same.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// For each number, its fingerprint.
    fingerprints: Vec<u64>,
    /// A number plus one, or 0. The first to look at for a fingerprint is given by its highest bits, and those after it follow.
    slots: Vec<u32>,
    /// A bit for each fingerprint, and maybe for others.
    marks: u64,
}

impl Index {
    /// Adds the next number.
    pub(crate) fn add(&mut self, fingerprint: u64) {
        self.fingerprints.push(fingerprint);
        self.marks |= mark(fingerprint);
        if 2 * self.fingerprints.len() <= self.slots.len() {
            self.put(self.fingerprints.len() - 1);
            return;
        }
        self.slots.clear();
        self.slots.resize((4 * self.fingerprints.len()).next_power_of_two(), 0);
        (0..self.fingerprints.len()).for_each(|number| self.put(number));
    }

    fn put(&mut self, number: usize) {
        let mut slot = self.slot(self.fingerprints[number]);
        while self.slots[slot] != 0 {
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = number as u32 + 1;
    }

    fn slot(&self, fingerprint: u64) -> usize {
        (fingerprint >> (u64::BITS - self.slots.len().ilog2())) as usize
    }

    /// The numbers with this fingerprint, in the order in which they were added.
    #[inline]
    pub(crate) fn find(&self, fingerprint: u64) -> impl Iterator<Item = u32> {
        let known = self.marks & mark(fingerprint) != 0;
        let mut slot = if known { self.slot(fingerprint) } else { 0 };
        let mut next = move || {
            let number = self.slots[slot].checked_sub(1)?;
            slot = (slot + 1) % self.slots.len();
            Some(number)
        };
        let all = std::iter::from_fn(move || if known { next() } else { None });
        all.filter(move |&number| self.fingerprints[number as usize] == fingerprint)
    }

    /// Forgets all numbers.
    pub(crate) fn clear(&mut self) {
        self.fingerprints.clear();
        self.slots.clear();
        self.marks = 0;
    }
}

/// The bit of a fingerprint.
fn mark(fingerprint: u64) -> u64 {
    1 << (fingerprint >> 32 & 63)
}

/// A number that is the same for the same words.
#[inline]
pub(crate) fn fingerprint(words: impl Iterator<Item = u64>) -> u64 {
    // Each word has a factor of its own, so that none waits for the one before.
    let mut factor = 0x9e37_79b9_7f4a_7c15_u64;
    let sum = words.fold(0_u64, |sum, word| {
        factor = factor.wrapping_mul(0xd134_2543_de82_ef95);
        sum.wrapping_add((word ^ word >> 32).wrapping_mul(factor))
    });
    (sum ^ sum >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_fingerprints_in_order() {
        let mut index = Index::default();
        assert_eq!(index.find(7).count(), 0);
        let fingerprints: Vec<u64> =
            (0..100).map(|number| fingerprint([number % 10, 3].into_iter())).collect();
        fingerprints.iter().for_each(|&fingerprint| index.add(fingerprint));
        let third: Vec<u32> = index.find(fingerprints[3]).collect();
        assert_eq!(third, (0..10).map(|turn| 10 * turn + 3).collect::<Vec<u32>>());
        assert_eq!(index.find(fingerprint([11, 3].into_iter())).count(), 0);
        index.clear();
        assert_eq!(index.find(fingerprints[3]).count(), 0);
    }

    #[test]
    fn small_differences_do_not_cancel_out() {
        let mut all: Vec<u64> = Vec::new();
        for word in 0..64_u64 {
            all.push(fingerprint([word & 3, word >> 2 & 3, word >> 4].into_iter()));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 64);
    }

    #[test]
    fn fingerprints_depend_on_the_order() {
        assert_ne!(fingerprint([1, 2].into_iter()), fingerprint([2, 1].into_iter()));
    }
}
