//! The engine's own memory: apart from the program's, and never restored.
//!
//! Blocks have sizes of some classes, four for each power of two. Blocks that are given back are kept in a list
//! for each class.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

/// Bytes of address space, tried one after the other.
const SIZES: [usize; 5] = [1 << 38, 1 << 36, 1 << 34, 1 << 32, 1 << 30];

/// Classes: four for each power of two.
const CLASSES: usize = 4 * 40;

struct State {
    /// First free byte; 0: no memory yet.
    top: usize,
    end: usize,
    /// The first free block of each class; each holds the address of the next.
    free: [usize; CLASSES],
}

/// The allocator.
pub(crate) struct OwnMemory {
    locked: AtomicBool,
    state: UnsafeCell<State>,
}

// SAFETY: the state is used under the lock only.
unsafe impl Sync for OwnMemory {}

#[global_allocator]
static OWN: OwnMemory = OwnMemory {
    locked: AtomicBool::new(false),
    state: UnsafeCell::new(State { top: 0, end: 0, free: [0; CLASSES] }),
};

/// The class of a size, and the bytes that its blocks have.
#[inline(always)]
fn class(size: usize) -> (usize, usize) {
    let size = size.max(16);
    let power = usize::BITS as usize - 1 - size.leading_zeros() as usize;
    let quarter = 1usize << (power - 2);
    let steps = (size - (1 << power)).div_ceil(quarter);
    (4 * power + steps, (1 << power) + steps * quarter)
}

impl OwnMemory {
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        while self.locked.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: the lock is held.
        let result = f(unsafe { &mut *self.state.get() });
        self.locked.store(false, Ordering::Release);
        result
    }
}

impl State {
    fn take(&mut self, size: usize, align: usize) -> usize {
        let (class, bytes) = class(size.max(align));
        if class >= CLASSES {
            return 0;
        }
        let first = self.free[class];
        if align <= 16 && first != 0 {
            // SAFETY: a free block, which holds the address of the next.
            self.free[class] = unsafe { *(first as *const usize) };
            return first;
        }
        if self.top == 0 {
            let Some((start, size)) = SIZES.iter().find_map(|&size| Some((sys::map(0, size)?, size))) else {
                return 0;
            };
            (self.top, self.end) = (start, start + size);
        }
        let align = align.max(16);
        let start = (self.top + align - 1) & !(align - 1);
        if self.end - self.top < bytes + align {
            return 0;
        }
        self.top = start + bytes;
        start
    }
}

// SAFETY: blocks are disjoint, aligned, and large enough: a block of a class has at least the bytes that were asked for.
unsafe impl GlobalAlloc for OwnMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.with(|state| state.take(layout.size(), layout.align())) as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (class, _) = class(layout.size().max(layout.align()));
        self.with(|state| {
            // SAFETY: the block is given back, and has room for an address.
            unsafe { *block.cast::<usize>() = state.free[class] };
            state.free[class] = block as usize;
        });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let old = class(layout.size().max(layout.align()));
        if old == class(size.max(layout.align())) {
            return block;
        }
        // SAFETY: the alignment is that of a layout; sizes are bounded by the address space.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both blocks have so many bytes, and are disjoint.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: the caller's promise.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_class_are_large_enough() {
        for size in 1..5000 {
            let (number, bytes) = class(size);
            assert!(bytes >= size && bytes <= 2 * size.max(16), "{size}: {bytes}");
            assert_eq!(class(bytes), (number, bytes), "{size}");
        }
    }
}
