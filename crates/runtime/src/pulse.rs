//! Signs of life, for whoever waits for a check: which thread ran last, and where.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use unpick_core::op::{Site, ThreadId};
use unpick_core::plan::Outlook;

/// Counters that one OS thread writes and another reads.
#[derive(Debug, Default)]
pub struct Pulse {
    beats: AtomicU64,
    thread: AtomicU32,
    site: AtomicU64,
    executions: AtomicU64,
    blocked: AtomicU64,
    /// Whether the worker is to stop.
    stopped: AtomicBool,
    /// Whether somebody wants to know how the check stands.
    wanted: AtomicBool,
    outlook: Mutex<Outlook>,
}

impl Pulse {
    /// Asks the worker to stop as soon as it can.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the worker is to stop.
    #[inline(always)]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.beats.store(self.beats.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// A thread is resumed.
    #[inline(always)]
    pub(crate) fn resume(&self, thread: ThreadId) {
        self.thread.store(thread.0, Ordering::Relaxed);
    }

    /// An op is taken.
    #[inline(always)]
    pub(crate) fn at(&self, site: Site) {
        self.beats.store(self.beats.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.site.store(site.0, Ordering::Relaxed);
    }

    /// An execution has ended.
    pub(crate) fn count(&self, executions: u64, blocked: u64) {
        self.executions.store(executions, Ordering::Relaxed);
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    /// Says how the check stands, if somebody wants to know.
    pub(crate) fn look(&self, outlook: impl FnOnce() -> Outlook) {
        if self.wanted.load(Ordering::Relaxed) {
            self.wanted.store(false, Ordering::Relaxed);
            *self.outlook.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = outlook();
        }
    }

    /// How the check stood a moment ago.
    pub fn outlook(&self) -> Outlook {
        self.wanted.store(true, Ordering::Relaxed);
        self.outlook.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// A number that changes as long as something happens.
    pub fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }

    /// The thread that ran last.
    pub fn thread(&self) -> ThreadId {
        ThreadId(self.thread.load(Ordering::Relaxed))
    }

    /// The place of the last op.
    pub fn site(&self) -> Site {
        Site(self.site.load(Ordering::Relaxed))
    }

    /// Executions so far, and how many of them were blocked.
    pub fn executions(&self) -> (u64, u64) {
        (self.executions.load(Ordering::Relaxed), self.blocked.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_op_and_each_execution_is_a_beat() {
        let pulse = Pulse::default();
        pulse.begin();
        pulse.resume(ThreadId(3));
        pulse.at(Site(8));
        assert_eq!((pulse.beats(), pulse.thread(), pulse.site()), (2, ThreadId(3), Site(8)));
    }

    #[test]
    fn a_worker_is_stopped_until_it_has_been_told() {
        let pulse = Pulse::default();
        assert!(!pulse.is_stopped());
        pulse.stop();
        assert!(pulse.is_stopped() && pulse.is_stopped());
    }

    #[test]
    fn the_outlook_is_made_once_for_each_time_that_it_is_wanted() {
        let pulse = Pulse::default();
        let mut made = 0;
        let mut look = || {
            pulse.look(|| {
                made += 1;
                Outlook::default()
            })
        };
        look();
        pulse.outlook();
        look();
        look();
        assert_eq!(made, 1);
    }

    #[test]
    fn executions_and_blocked_ones_are_told_apart() {
        let pulse = Pulse::default();
        pulse.count(7, 2);
        assert_eq!(pulse.executions(), (7, 2));
    }
}
