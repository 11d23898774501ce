//! Hints, as in [`std::hint`].

/// Says that the caller is waiting in a loop.
///
/// Inside a check nothing needs to be said: a loop that waits is recognised by the state it comes
/// back to.
#[inline]
pub fn spin_loop() {
    if !unpick_runtime::ops::in_check() {
        std::hint::spin_loop();
    }
}

pub use std::hint::black_box;
