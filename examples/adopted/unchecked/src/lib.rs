//! Checks in a crate that does not turn them on.

use unpick::sync::atomic::{AtomicUsize, Ordering};

/// Counts.
pub fn count(number: &AtomicUsize) -> usize {
    number.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    /// What it uses is there with checks only.
    #[unpick::test(model = "sc", time = "10s")]
    async fn is_checked() -> Result<(), unpick::Error> {
        unpick::assume(unpick::choose(2) == 0);
        Ok(())
    }
}

/// Outside of a module for tests: an ordinary build has nothing of it.
#[unpick::test]
fn is_checked_as_well() {
    unpick::assume(count(&AtomicUsize::new(0)) == 0);
}
