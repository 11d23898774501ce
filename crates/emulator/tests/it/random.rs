//! Random numbers from a seed that is new each time, and that a failure names.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The seed that `EMULATOR_SEED` gives, or a new one.
    pub(crate) fn seed() -> u64 {
        match std::env::var("EMULATOR_SEED") {
            Ok(seed) => seed.parse().expect("EMULATOR_SEED is a number"),
            Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64,
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// A number of any size, often at an edge.
    pub(crate) fn number(&mut self) -> u64 {
        match self.below(6) {
            0 => self.below(4),
            1 => self.pick(&[0, u64::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0x80, 0xff, 0x8000]),
            2 => self.next() >> self.below(64),
            _ => self.next(),
        }
    }
}
