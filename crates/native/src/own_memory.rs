//! The engine's own memory: apart from the program's, and never restored.
//!
//! Blocks have sizes of some classes, four for each power of two. Blocks that are given back are kept in a list
//! for each class. All of it, the state of the allocator included, lies in one range of addresses, so that it can be
//! shared with other processes and guarded against the program as a whole.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use unpick_core::error::Error;

use crate::standby;
use crate::sys;

/// Bytes of address space, tried one after the other.
const SIZES: [usize; 5] = [1 << 38, 1 << 36, 1 << 34, 1 << 32, 1 << 30];

/// The size of a page.
const PAGE: usize = 4096;

/// Classes: four for each power of two.
const CLASSES: usize = 4 * 40;

/// Lies at the beginning of the memory.
struct State {
    /// First free byte.
    top: usize,
    end: usize,
    /// The first free block of each class; each holds the address of the next.
    free: [usize; CLASSES],
}

/// The allocator.
pub(crate) struct OwnMemory {
    locked: AtomicBool,
    /// Used under the lock only; null: no memory yet.
    state: AtomicPtr<State>,
}

#[global_allocator]
static OWN: OwnMemory = OwnMemory { locked: AtomicBool::new(false), state: AtomicPtr::new(null_mut()) };

/// Where the memory in use lies, in whole pages.
pub(crate) fn range() -> (usize, usize) {
    let state = OWN.state.load(Ordering::Relaxed);
    // SAFETY: the state is never unmapped; one OS thread runs, and does not hold the lock here.
    let top = if state.is_null() { 0 } else { unsafe { (*state).top } };
    (state as usize, top.next_multiple_of(PAGE))
}

/// Shares the memory with the processes that are made from now on: what they write there is seen here.
///
/// # Errors
///
/// When the machine has no room for it.
pub(crate) fn share() -> Result<(), Error> {
    let (start, top) = range();
    // SAFETY: as for `range`.
    let end = unsafe { (*(start as *const State)).end };
    sys::map_file(start, end - start, top - start, libc::MAP_SHARED).map_err(|code| Error::Machine {
        problem: format!(
            "the memory of the check cannot be shared between processes: error {code}; use `--isolation restore`"
        ),
    })
}

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
        let mut rounds = 0u32;
        while self.locked.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
            rounds += 1;
            // In a check nobody else takes the lock: the program has written over it.
            if rounds == 1 << 22 && standby::ends_with_parent() {
                sys::exit(standby::BROKEN);
            }
            rounds &= (1 << 23) - 1;
        }
        let mut state = self.state.load(Ordering::Relaxed);
        if state.is_null() {
            state = State::make();
            self.state.store(state, Ordering::Relaxed);
        }
        // SAFETY: the lock is held, and the state is never unmapped.
        let result = f(unsafe { &mut *state });
        self.locked.store(false, Ordering::Release);
        result
    }
}

impl State {
    /// Maps the memory. Without any, nothing can be done.
    fn make() -> *mut State {
        let Some((start, size)) = SIZES.iter().find_map(|&size| Some((sys::map(0, size)?, size))) else {
            sys::write(2, b"unpick: there is no memory for the check\n");
            sys::exit(2);
        };
        let state = start as *mut State;
        // SAFETY: a new mapping with room for the state; zeroes are a state without free blocks.
        unsafe {
            (*state).top = (start + size_of::<State>()).next_multiple_of(16);
            (*state).end = start + size;
        }
        state
    }

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
