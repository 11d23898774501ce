//! Hints, as in [`std::hint`].

pub use unpick::hint::black_box;

/// Says that the caller waits in a loop: lets other threads run first.
#[track_caller]
pub fn spin_loop() {
    crate::thread::yield_now();
}
