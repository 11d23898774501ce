//! Blocks that have pages of their own, so that a touch of one that was freed is noticed.
//!
//! Addresses must not depend on whether anybody watches: a program whose freed blocks are looked at has each block on
//! its own pages in all its executions, from when that is known. Those that come after the first thousands lie close together,
//! as all do otherwise.

use std::ops::Range;

use super::{Arena, HALF};

/// The size of a page of the machine.
const PAGE: usize = 4096;

/// How far an arena is used for blocks with pages of their own.
const PAGED: usize = HALF / 4 * 3;

/// What is read behind the end of a block when it is searched for tags.
const MARGIN: usize = 64;

impl Arena {
    /// Says whether each block is to have pages of its own.
    #[inline(always)]
    pub(crate) fn set_paged(&mut self, paged: bool) {
        self.paged = paged;
    }

    /// Where room is looked for, for the next block.
    #[inline(always)]
    pub(super) fn next_room(&self, size: usize) -> usize {
        if self.paged { self.next_page(size) } else { self.used }
    }

    /// Behind the page of the last block. Blocks begin at different places of their pages, or they would all compete for the same
    /// few lines of the processor's cache.
    #[cold]
    #[inline(never)]
    fn next_page(&self, size: usize) -> usize {
        if self.used >= PAGED {
            return self.used;
        }
        let room = PAGE.saturating_sub(size + MARGIN);
        let shift = (self.noted * 192) % (room + 1) / 64 * 64;
        self.used.next_multiple_of(PAGE) + shift
    }

    /// The pages of a block, if they are its own.
    pub(crate) fn pages(&self, number: usize) -> Option<Range<usize>> {
        let notes = self.notes();
        let pages_of = |number: usize| {
            let note = &notes[number];
            let start = note.start as usize * 16;
            let end = start + (note.size() as usize).max(1);
            start / PAGE * PAGE..end.next_multiple_of(PAGE)
        };
        let own = pages_of(number);
        let before = number.checked_sub(1).map_or(0, |before| pages_of(before).end);
        let after = if number + 1 < notes.len() { pages_of(number + 1).start } else { PAGED };
        let alone = self.paged && before <= own.start && own.end <= after && own.end <= PAGED;
        alone.then(|| self.base + own.start..self.base + own.end)
    }
}

/// Lets pages be used, or not.
pub(crate) fn protect(pages: &Range<usize>, usable: bool) -> bool {
    let access = if usable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // SAFETY: whole pages of an arena, which are mapped.
    unsafe { libc::mprotect(pages.start as *mut libc::c_void, pages.len(), access) == 0 }
}

/// Fills a block. Blocks begin at multiples of 16, and what is left up to the next one is nobody
/// else's.
#[inline(always)]
pub(super) unsafe fn fill(block: *mut u8, size: usize, byte: u8) {
    if size > 256 {
        // SAFETY: as the caller promises.
        unsafe { block.write_bytes(byte, size) };
        return;
    }
    let pattern = u128::from_ne_bytes([byte; 16]);
    for part in 0..size.div_ceil(16) {
        // SAFETY: the block is aligned, and its last part may be filled up.
        unsafe { block.cast::<u128>().add(part).write(pattern) };
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::*;

    #[test]
    fn blocks_have_pages_of_their_own() {
        let mut arena = Arena::take().expect("address space");
        arena.set_paged(true);
        let sizes = [8, 24, PAGE, 3 * PAGE, 1, PAGE - 8, 16];
        for size in sizes {
            let layout = Layout::from_size_align(size, 8).expect("a layout");
            assert!(!arena.allocate(layout, true).is_null());
        }
        let pages: Vec<Range<usize>> =
            (0..sizes.len()).map(|number| arena.pages(number).expect("pages")).collect();
        for (number, size) in sizes.into_iter().enumerate() {
            let start = arena.start(number);
            assert!(pages[number].start <= start && start + size <= pages[number].end);
            assert!(number == 0 || pages[number - 1].end <= pages[number].start);
        }
        arena.reset();
        arena.set_paged(false);
        arena.allocate(Layout::new::<u64>(), true);
        assert_eq!(arena.pages(0), None);
        arena.give_back();
    }
}
