//! A table of numbers by key: what a hash map would be, without an order that anybody could rely on.
//!
//! Keys are hashes already; equal keys are taken for equal things.

/// Mixes the bits of a number (the last step of SplitMix64).
#[inline(always)]
pub fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of two numbers, in this order.
#[inline(always)]
pub fn pair(first: u64, second: u64) -> u64 {
    mix(mix(first).wrapping_add(second).wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Numbers by key.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Key and number; a key of 0 is an empty slot. The length is a power of two.
    slots: Vec<(u64, u64)>,
    len: usize,
}

impl Table {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of a key, to change; 0 if the key is new.
    #[inline(always)]
    pub fn entry(&mut self, key: u64) -> &mut u64 {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        let key = key.max(1);
        let slot = self.find(key);
        if self.slots[slot].0 == 0 {
            self.slots[slot].0 = key;
            self.len += 1;
        }
        &mut self.slots[slot].1
    }

    /// Whether this is the number of a key, as far as one look tells: `false` may be wrong.
    #[inline(always)]
    pub fn is(&self, key: u64, number: u64) -> bool {
        let slot = key as usize & self.slots.len().wrapping_sub(1);
        self.slots.get(slot) == Some(&(key, number))
    }

    /// The number of a key, if it is known.
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u64> {
        if self.slots.is_empty() {
            return None;
        }
        let key = key.max(1);
        let (known, number) = self.slots[self.find(key)];
        (known == key).then_some(number)
    }

    /// The slot of a key, or the empty one where it would go.
    #[inline(always)]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        while self.slots[slot].0 != key && self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for entry in old.into_iter().filter(|(key, _)| *key != 0) {
            let slot = self.find(entry.0);
            self.slots[slot] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_while_it_grows() {
        let mut table = Table::default();
        for key in 0..1000 {
            *table.entry(mix(key)) += key;
            *table.entry(mix(key)) += 1;
        }
        assert_eq!(table.len(), 1000);
        assert!((0..1000).all(|key| table.get(mix(key)) == Some(key + 1)));
        assert!((0..1000).filter(|&key| table.is(mix(key), key + 1)).count() > 500);
        assert!((0..1000).all(|key| !table.is(mix(key), key)) && !Table::default().is(5, 0));
        assert_eq!(table.get(mix(1000)), None);
    }
}
