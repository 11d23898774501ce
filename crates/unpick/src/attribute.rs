//! What `#[unpick::test]` expands to. Not for use by hand.

use std::fmt::Debug;

use crate::Check;

/// Checks a program with settings, given as variables of the environment and their values.
///
/// # Panics
///
/// As [`fn@crate::check`] does, and when a value is not understood.
#[track_caller]
pub fn check<F: Fn() + Send + Sync + 'static>(settings: &[(&str, &str)], f: F) {
    let known = |name: &str| {
        settings.iter().find(|(variable, _)| *variable == name).map(|(_, value)| value.to_string())
    };
    match Check::new().with(known) {
        Ok(check) => check.check(f),
        Err(error) => panic!("unpick could not check the program: {error}"),
    }
}

/// What a test may return.
#[diagnostic::on_unimplemented(
    message = "a test of unpick returns `()` or a `Result`, and not `{Self}`",
    label = "this test"
)]
pub trait Settle {
    /// Panics unless the test went well.
    fn settle(self);
}

impl Settle for () {
    fn settle(self) {}
}

impl<T: Settle, E: Debug> Settle for Result<T, E> {
    #[track_caller]
    fn settle(self) {
        match self {
            Ok(value) => value.settle(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Panics unless the test went well.
#[track_caller]
pub fn settle(returned: impl Settle) {
    returned.settle();
}
