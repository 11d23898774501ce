//! Where the next block will be, and whether one is gone: payloads of panics are known by where they are.

use std::alloc::Layout;

use super::{ARENA_BYTES, Arena, Kept, NOTES};

impl Arena {
    /// Where the payload of a panic will be that is about to get its box. On the system heap that is known once it is
    /// there, and `panics::boxed` is told.
    pub(crate) fn foresee(&mut self, layout: Layout) -> Option<usize> {
        if let Some(kept) = &mut self.kept {
            kept.box_of_panic = Some(layout);
            return None;
        }
        let noted = !self.untracked && self.noted < NOTES;
        let placed = self.place(self.next_room(layout.size()), self.limit, layout).filter(|_| noted);
        let placed = placed.or_else(|| self.place(self.used_untracked, ARENA_BYTES, layout));
        placed.map(|(start, _)| self.base + start)
    }

    /// Whether the address was in a block that was freed, as far as is known.
    pub(crate) fn has_freed(&self, address: usize) -> bool {
        match &self.kept {
            Some(kept) => kept.given_back.iter().any(|&(block, _)| block == address),
            None if !self.contains(address) => false,
            None => self.find(address).is_some_and(|(number, _)| self.notes()[number].freed().is_some()),
        }
    }
}

impl Kept {
    /// Notes a block that was taken from the system heap.
    pub(super) fn note_taken(&mut self, block: usize, layout: Layout) {
        self.taken.iter_mut().for_each(|all| all.push((block, layout)));
        if self.box_of_panic == Some(layout) {
            self.box_of_panic = None;
            crate::panics::boxed(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::op::ThreadId;

    use super::*;

    #[test]
    fn the_next_block_is_where_it_was_foreseen() {
        let mut arena = Arena::take().expect("address space");
        for layout in [Layout::new::<u8>(), Layout::new::<[u64; 3]>(), Layout::new::<[u128; 40]>()] {
            for (untracked, paged) in [(false, false), (true, false), (false, true)] {
                arena.untracked = untracked;
                arena.set_paged(paged);
                let foreseen = arena.foresee(layout);
                assert_eq!(foreseen, Some(arena.allocate(layout, true) as usize));
            }
        }
        arena.untracked = false;
        let block = arena.allocate(Layout::new::<u64>(), true) as usize;
        assert!(!arena.has_freed(block));
        let (number, _) = arena.find(block).expect("a block");
        arena.free(number, ThreadId(0), 1);
        assert!(arena.has_freed(block) && !arena.has_freed(0));
        arena.give_back();
    }
}
