//! A moment of an arena, to which it goes back when a round of a loop has been tried.

use std::ops::Range;

use unpick_core::op::ThreadId;

use super::{Arena, FREED, NOTE_BYTES, fill};
use crate::current::place_of;

/// How an arena stood at a moment: all but the contents of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    used: usize,
    used_untracked: usize,
    untracked: bool,
    owner: u32,
    noted: usize,
    live: usize,
    position: u32,
    wanted: usize,
}

impl Arena {
    /// How it stands.
    pub(crate) fn mark(&self) -> Mark {
        let &Arena { used, used_untracked, untracked, owner, noted, live, position, wanted, .. } = self;
        Mark { used, used_untracked, untracked, owner, noted, live, position, wanted }
    }

    /// Forgets what was allocated since.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        let Mark { used, used_untracked, untracked, owner, noted, live, position, wanted } = mark;
        (self.used, self.used_untracked, self.untracked, self.owner) =
            (used, used_untracked, untracked, owner);
        (self.noted, self.live, self.position, self.wanted) = (noted, live, position, wanted);
    }

    /// Whether all blocks are there that were there, and no others, once no call stack is wanted.
    pub(crate) fn is_as_at(&self, mark: Mark) -> bool {
        let same = Mark { used: mark.used, noted: mark.noted, wanted: mark.wanted, ..self.mark() };
        same == mark && self.notes()[mark.noted..].iter().all(|note| note.freed().is_some())
    }

    /// The memory in which the blocks are that were allocated since, if there are any.
    pub(crate) fn since(&self, mark: Mark) -> Option<Range<usize>> {
        (self.noted > mark.noted).then_some(self.base + mark.used..self.base + self.limit)
    }

    /// Whether a block is new since then.
    pub(crate) fn is_since(&self, mark: Mark, number: usize) -> bool {
        number >= mark.noted
    }

    /// Whether threads can have it for all that they allocate.
    pub(crate) fn has_room(&self) -> bool {
        self.kept.is_none()
    }

    /// Where it keeps what it knows: nothing of that is the program's.
    pub(crate) fn places(&self) -> [Range<usize>; 2] {
        let notes = self.notes as usize;
        [place_of(self), notes..notes + NOTE_BYTES]
    }

    /// Fills a block as one that was freed, and counts it, without noting that it was.
    pub(crate) fn pretend_to_free(&mut self, number: usize) {
        let (start, size) = (self.start(number), self.notes()[number].size() as usize);
        // SAFETY: the block is within the arena, and the program has given it back.
        unsafe { fill(start as *mut u8, size, FREED) };
        self.live -= 1;
    }

    /// What an address stands for if it is one of a block, or the one behind it, that the thread of this arena has freed:
    /// the size of the block, and the byte.
    pub(crate) fn settle(&self, thread: ThreadId, address: usize) -> Option<u64> {
        let offset = address.checked_sub(self.base)?;
        let behind = self.notes().partition_point(|note| note.start as usize * 16 <= offset);
        let note = self.notes()[..behind].last()?;
        let byte = offset - note.start as usize * 16;
        let freed = note.freed().is_some_and(|(by, _)| by == thread);
        (freed && byte <= note.size() as usize).then_some(u64::from(note.size()) << 32 | byte as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::*;

    #[test]
    fn an_arena_goes_back_to_where_it_stood() {
        let mut arena = Arena::take().expect("address space");
        let thread = ThreadId(3);
        let layout = Layout::new::<[u64; 4]>();
        let old = arena.allocate(layout, true) as usize;
        let mark = arena.mark();
        assert!(arena.is_as_at(mark) && arena.since(mark).is_none());
        let new = arena.allocate(layout, true) as usize;
        assert!(!arena.is_as_at(mark) && arena.since(mark).is_some_and(|memory| memory.contains(&new)));
        assert!(arena.since(mark).is_some_and(|memory| !memory.contains(&old)));
        arena.free(1, thread, 0);
        assert!(arena.is_as_at(mark) && arena.mark() != mark);
        arena.rewind(mark);
        assert_eq!(arena.mark(), mark);
        arena.untracked = true;
        arena.allocate(layout, true);
        arena.untracked = false;
        assert!(!arena.is_as_at(mark));
        arena.rewind(mark);
        arena.free(0, thread, 0);
        assert!(!arena.is_as_at(mark));
        arena.give_back();
    }

    #[test]
    fn addresses_of_freed_blocks_of_one_size_stand_for_the_same() {
        let mut arena = Arena::take().expect("address space");
        let (thread, other) = (ThreadId(3), ThreadId(4));
        let layouts = [Layout::new::<[u8; 24]>(), Layout::new::<[u8; 24]>(), Layout::new::<[u8; 40]>()];
        let [first, second, third] = layouts.map(|layout| arena.allocate(layout, true) as usize);
        assert_eq!(arena.settle(thread, first), None);
        arena.free(0, thread, 0);
        arena.free(1, thread, 0);
        arena.free(2, other, 0);
        assert!(arena.settle(thread, first).is_some());
        assert_eq!(arena.settle(thread, first), arena.settle(thread, second));
        assert_eq!(arena.settle(thread, first + 24), arena.settle(thread, second + 24));
        assert_ne!(arena.settle(thread, first), arena.settle(thread, second + 1));
        assert_eq!(arena.settle(thread, first + 25), None);
        assert_eq!(arena.settle(thread, third), None);
        assert_ne!(arena.settle(other, third), arena.settle(thread, first));
        arena.give_back();
    }
}
