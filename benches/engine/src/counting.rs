//! Counts the blocks of memory that are taken outside the arenas, in builds that ask for it.

/// How many blocks the process has taken or resized so far; `None` in builds that do not count.
pub(crate) fn blocks() -> Option<u64> {
    #[cfg(feature = "counters")]
    return Some(counter::BLOCKS.load(std::sync::atomic::Ordering::Relaxed));
    #[cfg(not(feature = "counters"))]
    None
}

#[cfg(feature = "counters")]
mod counter {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::atomic::{AtomicU64, Ordering};

    pub(super) static BLOCKS: AtomicU64 = AtomicU64::new(0);

    #[global_allocator]
    static ALLOCATOR: unpick::Allocator<Counting> = unpick::Allocator::new(Counting);

    /// The system heap, and a counter.
    struct Counting;

    // SAFETY: all calls are passed on to the system heap as they are.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: as the caller promises.
            unsafe { System.alloc(layout) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: as the caller promises.
            unsafe { System.alloc_zeroed(layout) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: as the caller promises.
            unsafe { System.realloc(block, layout, size) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(block, layout) }
        }
    }
}
