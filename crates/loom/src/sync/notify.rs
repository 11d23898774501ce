//! A notification that one thread waits for.

use std::sync::atomic::{AtomicBool, Ordering};

use unpick_core::op::{Addr, Op};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

/// The value of a notification that was not sent.
const NOT_SENT: u64 = 1;

/// A notification that one thread waits for.
///
/// With `UNPICK_SPURIOUS_WAKEUPS=1`, [`wait`](Notify::wait) may return without a notification, once in the
/// life of each `Notify`.
#[derive(Debug, Default)]
pub struct Notify {
    tag: Tag,
    /// Whether a thread is waiting.
    waiting: AtomicBool,
    /// Whether a thread went on without a notification.
    went_on: AtomicBool,
}

impl Notify {
    /// Nobody was notified.
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Lets the thread go on that waits, or the next one that does. What the caller has done happens before
    /// that.
    ///
    /// # Panics
    ///
    /// Outside a model.
    #[track_caller]
    pub fn notify(&self) {
        crate::model::assert_inside();
        ops::on_object(self.object(), NOT_SENT, Op::post(Addr::NONE, here!()));
    }

    /// Waits for a notification, and uses it up.
    ///
    /// # Panics
    ///
    /// When another thread is waiting, and outside a model.
    #[track_caller]
    pub fn wait(&self) {
        crate::model::assert_inside();
        let others = self.waiting.swap(true, Ordering::Relaxed);
        assert!(!others, "only one thread at a time may wait for a `Notify`");
        let site = here!();
        let may_go_on = ops::wakes_spuriously() && !self.went_on.load(Ordering::Relaxed);
        let went_on = may_go_on && ops::whim(site);
        if went_on {
            self.went_on.store(true, Ordering::Relaxed);
        } else {
            ops::on_object(self.object(), NOT_SENT, Op::wait(Addr::NONE, false, site));
        }
        self.waiting.store(false, Ordering::Relaxed);
    }

    fn object(&self) -> Object<'_> {
        Object::new(&self.tag, "Notify")
    }
}
