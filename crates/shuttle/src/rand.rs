//! Random numbers that are the same when an execution is replayed, as in the `rand` crate.
//!
//! Where executions are drawn at random, so are these. Where all executions are explored there would be no
//! end of them: [`DfsScheduler`](crate::scheduler::DfsScheduler) says whether a test may ask for them
//! at all, and then gives each task a fixed sequence.

pub use ::rand::{Rng, RngCore};

/// Sources of random numbers.
pub mod rngs {
    use rand::{CryptoRng, Error, RngCore};
    use unpick::stand_in;

    use crate::context;

    /// The source that [`thread_rng`](super::thread_rng) gives.
    #[derive(Clone, Debug, Default)]
    pub struct ThreadRng(());

    /// A schedule keeps numbers of less than 32 bits: one of 64 is made of four digits.
    pub(crate) const DIGIT: usize = 1 << 16;

    impl ThreadRng {
        pub(super) fn new() -> ThreadRng {
            ThreadRng(())
        }
    }

    impl RngCore for ThreadRng {
        fn next_u32(&mut self) -> u32 {
            self.next_u64() as u32
        }

        #[track_caller]
        fn next_u64(&mut self) -> u64 {
            assert!(stand_in::in_check(), "random numbers of Shuttle are for code inside a check");
            if context::rules().draws {
                return (0..4).fold(0, |number, _| number << 16 | unpick::choose(DIGIT) as u64);
            }
            assert!(
                context::rules().randomness,
                "requested random data from DFS scheduler, which was made with allow_random_data = false"
            );
            mix(u64::from(stand_in::current()) << 32 | context::draw())
        }

        fn fill_bytes(&mut self, target: &mut [u8]) {
            for chunk in target.chunks_mut(8) {
                chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
            }
        }

        fn try_fill_bytes(&mut self, target: &mut [u8]) -> Result<(), Error> {
            self.fill_bytes(target);
            Ok(())
        }
    }

    impl CryptoRng for ThreadRng {}

    /// One step of SplitMix64, from a number of its own: numbers that have nothing to do with each other.
    fn mix(number: u64) -> u64 {
        let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    }
}

/// A source of random numbers for the calling task.
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng::new()
}
