//! holds
//!
//! The cell is seen.

use std::sync::Arc;

use unpick::sync::OnceLock;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let cell = Arc::new(OnceLock::new());
        let theirs = Arc::clone(&cell);
        let other = thread::spawn(move || *theirs.get_or_init(|| 1));
        let own = *cell.get_or_init(|| 1);
        assert_eq!(own, other.join().unwrap());
    }
}
