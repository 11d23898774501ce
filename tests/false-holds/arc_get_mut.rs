//! holds
//!
//! Each round locks the count of weak pointers and unlocks it.

use unpick::sync::Arc;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let mut ours = Arc::new(1);
        let theirs = ours.clone();
        let other = thread::spawn(move || assert_eq!(*theirs, 1));
        loop {
            if let Some(number) = Arc::get_mut(&mut ours) {
                *number = 2;
                break;
            }
        }
        other.join().unwrap();
        assert_eq!(*ours, 2);
    }
}
