//! Tags that are numbers.

use crate::current::{get_label_for_task, me, set_label_for_task};

/// A number that a test attaches to a task. A task inherits that of the one that spawned it; the main thread has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(u64);

impl From<u64> for Tag {
    fn from(tag: u64) -> Tag {
        Tag(tag)
    }
}

impl From<Tag> for u64 {
    fn from(tag: Tag) -> u64 {
        tag.0
    }
}

/// The tag of the calling task.
pub fn get_tag_for_current_task() -> Tag {
    get_label_for_task(me()).unwrap_or_default()
}

/// Gives the calling task a tag, and returns the one that it had.
pub fn set_tag_for_current_task(tag: Tag) -> Tag {
    set_label_for_task(me(), tag).unwrap_or_default()
}
