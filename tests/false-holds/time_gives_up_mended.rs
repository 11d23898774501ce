//! holds
//!
//! A loop gives up after a minute.

use std::time::Duration;

use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = AtomicBool::new(false);
        let start = Instant::now();
        let mut told = false;
        while !flag.load(Acquire) {
            if start.elapsed() > Duration::from_secs(60) {
                told = true;
                break;
            }
        }
        assert!(told);
    }
}
