//! holds
//!
//! A receiver goes on after a pause, until nobody can send any more.

use std::time::Duration;

use unpick::sync::mpsc::{RecvTimeoutError, channel};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || {
            for number in 1..=2 {
                sender.send(number).unwrap();
            }
        });
        let mut sum = 0;
        loop {
            match receiver.recv_timeout(Duration::from_millis(20)) {
                Ok(number) => sum += number,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        assert_eq!(sum, 3);
        other.join().unwrap();
    }
}
