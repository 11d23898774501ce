//! The example of the README: a message that is announced, and yet not there.
//!
//! `cargo run -p unpick --example readme` shows the report that the README shows.

mod show;

use std::process::ExitCode;

use unpick::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use unpick::{Check, thread};

pub(crate) fn announce() {
    let (message, ready) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            message.store(42, Relaxed);
            ready.store(true, Relaxed);
        });
        if ready.load(Acquire) {
            assert_eq!(message.load(Relaxed), 42);
        }
    });
}

fn main() -> ExitCode {
    show::show(&Check::new().run(announce))
}
