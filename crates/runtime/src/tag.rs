//! Identity of objects: which location or cell an object stands for in the current run.
//!
//! Constructors are `const` and cannot register anything, and objects move. So each object
//! carries a tag, empty at first, that is stamped when the object is used: by replay with the
//! recorded location, otherwise with a new one. A stamp is of one session, and where objects may
//! outlive a run, of one run; a tag with another stamp counts as empty.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The identity of an object that unpick controls.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Tag {
    stamp: AtomicU64,
    number: AtomicU32,
}

const RUN_BITS: u32 = 40;

/// In place of a run's number, where objects do not outlive a run.
pub(crate) const EVERY_RUN: u64 = (1 << RUN_BITS) - 1;

static SESSIONS: AtomicU64 = AtomicU64::new(1);
static GOING_ON: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// A number for a new session.
pub(crate) fn new_session() -> u64 {
    let id = SESSIONS.fetch_add(1, Ordering::Relaxed);
    GOING_ON.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(id);
    id
}

/// Says that a session is over.
pub(crate) fn end_session(id: u64) {
    GOING_ON.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).retain(|&other| other != id);
}

/// The stamp of a run.
pub(crate) fn stamp(session: u64, run: u64) -> u64 {
    session << RUN_BITS | (run & EVERY_RUN)
}

/// The session that a stamp is of.
fn session_of(stamp: u64) -> u64 {
    stamp >> RUN_BITS
}

/// Marks the numbers of cells, which are counted apart from locations.
const CELL: u32 = 1 << 31;

/// The number in a tag that stands for a cell.
pub(crate) fn of_cell(cell: u32) -> u32 {
    cell | CELL
}

/// The cell that the number in a tag stands for, if it does not stand for a location.
#[inline(always)]
pub(crate) fn cell(number: u32) -> Option<u32> {
    (number & CELL != 0).then_some(number & !CELL)
}

impl Tag {
    /// The tag of an object that has not been used.
    pub const fn new() -> Tag {
        Tag { stamp: AtomicU64::new(0), number: AtomicU32::new(0) }
    }

    /// The stamp, 0 if the object has not been used.
    #[inline(always)]
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Relaxed)
    }

    /// The number that goes with the stamp.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Stamps the tag.
    #[inline(always)]
    pub(crate) fn set(&self, stamp: u64, number: u32) {
        self.stamp.store(stamp, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
    }

    /// Makes sure that no check is using the object, for uses that no check controls.
    ///
    /// # Panics
    ///
    /// When one is: the caller runs on an OS thread that the check knows nothing of.
    #[inline]
    #[track_caller]
    pub fn assert_outside(&self) {
        if self.stamp() != 0 {
            self.assert_over();
        }
    }

    #[cold]
    #[track_caller]
    fn assert_over(&self) {
        let going_on = GOING_ON.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let used = going_on.contains(&session_of(self.stamp()));
        drop(going_on);
        assert!(
            !used,
            "an object that a check is using was used by an OS thread that unpick does not control; \
             start threads with `unpick::thread` inside a check"
        );
    }

    /// Makes the object as good as new: its next use begins a new life.
    pub fn reset(&mut self) {
        *self.stamp.get_mut() = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn stamps_of_different_sessions_and_runs_differ() {
        let stamps = [stamp(1, 0), stamp(1, 1), stamp(2, 0), stamp(2, 1), stamp(1, EVERY_RUN)];
        for (i, one) in stamps.iter().enumerate() {
            assert!(*one != 0 && !stamps[..i].contains(one), "{one:#x}");
        }
    }

    #[test]
    fn a_stamp_tells_its_session_however_many_runs_there_were() {
        for run in [0, 7, EVERY_RUN, EVERY_RUN + 1, u64::MAX] {
            assert_eq!(session_of(stamp(3, run)), 3);
        }
    }

    #[test]
    fn the_number_of_a_cell_is_not_that_of_a_location() {
        assert_eq!(cell(of_cell(5)), Some(5));
        assert_eq!(cell(5), None);
    }

    #[test]
    fn an_object_is_free_again_when_its_session_is_over() {
        let tag = Tag::new();
        tag.assert_outside();
        let session = new_session();
        tag.set(stamp(session, 4), 9);
        assert_eq!((tag.stamp(), tag.number()), (stamp(session, 4), 9));
        let used = catch_unwind(|| tag.assert_outside()).expect_err("a check is using it");
        let said = used.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(said.contains("`unpick::thread`"), "{said}");
        end_session(session);
        tag.assert_outside();
    }

    #[test]
    fn a_tag_that_was_reset_is_that_of_a_new_object() {
        let mut tag = Tag::new();
        tag.set(stamp(1, 1), 2);
        tag.reset();
        assert_eq!(tag.stamp(), 0);
    }
}
