//! holds
//!
//! A panic that was looked at goes on in another thread, and is looked at again.

use std::panic::resume_unwind;

use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let payload = thread::spawn(|| panic!("once")).join().unwrap_err();
        let other = thread::spawn(move || resume_unwind(payload));
        assert!(other.join().is_err());
    }
}
