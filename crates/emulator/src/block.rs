//! Memory that does not come from the program's allocator.
//!
//! While a piece runs, the heap is in a state that will be taken back. A block that was allocated from
//! it meanwhile would be handed out a second time. So blocks are pages of their own.

use std::alloc::Layout;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The size of the blocks that are kept when they are dropped, for the next of that size: mapping pages
/// takes longer than most pieces run.
const SPARE: usize = 4 * 4096;

/// Whether footprints come from the global allocator.
static FROM_ALLOCATOR: AtomicBool = AtomicBool::new(false);

/// Lets footprints be kept in memory of the global allocator, for whoever has one that pieces never use.
pub fn keep_in_allocator() {
    FROM_ALLOCATOR.store(true, Ordering::Relaxed);
}

/// Blocks to be used again.
static SPARES: Mutex<Spares> = Mutex::new(Spares { blocks: [const { None }; 64], len: 0 });

struct Spares {
    blocks: [Option<Address>; 64],
    len: usize,
}

struct Address(NonNull<u8>);

// SAFETY: it is memory that nobody uses.
unsafe impl Send for Address {}

/// Memory that is aligned to a page, and becomes resident as it is used.
pub(crate) struct Block {
    start: NonNull<u8>,
    size: usize,
    /// What it was allocated with, if it comes from the allocator.
    layout: Option<Layout>,
}

// SAFETY: a block owns its memory, and nothing of it depends on the thread.
unsafe impl Send for Block {}
// SAFETY: a shared block is only read.
unsafe impl Sync for Block {}

impl Block {
    /// A block of at least this size with anything in it. None if the system refuses.
    pub(crate) fn any(size: usize) -> Option<Block> {
        if FROM_ALLOCATOR.load(Ordering::Relaxed) {
            let layout = Layout::from_size_align(size.max(1), 4096).ok()?;
            // SAFETY: the size is not zero.
            let start = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
            return Some(Block { start, size: layout.size(), layout: Some(layout) });
        }
        if size > SPARE {
            return Block::new(size, false);
        }
        let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len > 0 {
            spares.len -= 1;
            let last = spares.len;
            let spare = spares.blocks[last].take();
            return spare.map(|Address(start)| Block { start, size: SPARE, layout: None });
        }
        drop(spares);
        Block::new(SPARE, false)
    }

    /// A zeroed block of at least this size; executable if asked for. None if the system refuses.
    pub(crate) fn new(size: usize, executable: bool) -> Option<Block> {
        let size = size.max(1).next_multiple_of(4096);
        Some(Block { start: system::map(size, executable)?, size, layout: None })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn addresses(&self) -> Range<usize> {
        let start = self.start.as_ptr() as usize;
        start..start + self.size
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: it was allocated with this layout, and nobody has it any more.
            return unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) };
        }
        if self.size == SPARE {
            let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
            let end = spares.len;
            if let Some(place) = spares.blocks.get_mut(end) {
                *place = Some(Address(self.start));
                spares.len += 1;
                return;
            }
        }
        // SAFETY: the memory came from `map` with this size, and nobody has it any more.
        unsafe { system::unmap(self.start, self.size) }
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod system {
    use std::ptr::NonNull;

    pub(super) fn map(size: usize, executable: bool) -> Option<NonNull<u8>> {
        let protection = libc::PROT_READ | libc::PROT_WRITE | if executable { libc::PROT_EXEC } else { 0 };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping wherever there is room concerns nobody else.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    /// # Safety
    /// The memory came from `map` with this size, and is not used any more.
    pub(super) unsafe fn unmap(start: NonNull<u8>, size: usize) {
        // SAFETY: as promised by the caller.
        unsafe { libc::munmap(start.as_ptr().cast(), size) };
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod system {
    //! Nothing is emulated here, so the allocator will do.
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    pub(super) fn map(size: usize, executable: bool) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(size, 4096).ok()?;
        // SAFETY: the size is not zero.
        if executable { None } else { NonNull::new(unsafe { alloc_zeroed(layout) }) }
    }

    /// # Safety
    /// The memory came from `map` with this size, and is not used any more.
    pub(super) unsafe fn unmap(start: NonNull<u8>, size: usize) {
        if let Ok(layout) = Layout::from_size_align(size, 4096) {
            // SAFETY: as promised by the caller.
            unsafe { dealloc(start.as_ptr(), layout) }
        }
    }
}
