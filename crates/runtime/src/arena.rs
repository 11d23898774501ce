//! Memory of the program under test: one bump arena per thread, behind the global allocator.
//!
//! What a checked thread allocates comes from its own arena, at addresses that depend only on
//! what the thread has done, and nothing is used twice within an execution. The next execution
//! starts with empty arenas, so a thread that is abandoned half way needs no unwinding.
//!
//! A block stays with its owner: memory from the system heap is resized and freed there, even
//! when a checked thread asks. Arenas are never unmapped, since the standard library may keep a
//! buffer that was born in one; they are handed on to later checks.
//!
//! A thread whose arena is full gets the rest from the system heap. Blocks there have other
//! addresses in each execution, may be used twice, and are leaked when the thread is abandoned. The
//! state of loops does not include them, and nobody asks whether they were published.
//!
//! Each arena also notes after how many events of its thread a block was allocated, which tells
//! whether another thread may know of the block's contents.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::current;

/// Address space per thread.
const ARENA_BYTES: usize = 64 << 20;
/// Address space for the notes of one arena.
const NOTES: usize = 1 << 20;
/// How many arenas the process can have at a time; later threads use the system heap.
const MAX_ARENAS: usize = 1024;

static REGION: AtomicUsize = AtomicUsize::new(0);
static REGION_BYTES: AtomicUsize = AtomicUsize::new(0);
static FREE: Mutex<Free> = Mutex::new(Free { arenas: Vec::new(), made: 0, most: None });

thread_local! {
    static ACTIVE: Cell<*mut Arena> = const { Cell::new(std::ptr::null_mut()) };
}

/// The arenas of the process.
struct Free {
    /// Those that no check uses now.
    arenas: Vec<Arena>,
    /// How many there are.
    made: usize,
    /// How many there can be; unknown until address space has been reserved.
    most: Option<usize>,
}

impl Free {
    fn take(&mut self) -> Option<Arena> {
        if let Some(arena) = self.arenas.pop() {
            return Some(arena);
        }
        let most = *self.most.get_or_insert_with(reserve);
        if self.made == most {
            return None;
        }
        self.made += 1;
        Some(Arena::in_region(REGION.load(Ordering::Relaxed), self.made - 1))
    }
}

/// The memory of one thread.
#[derive(Debug)]
pub(crate) struct Arena {
    base: usize,
    used: usize,
    /// Where blocks begin: not at the same place in every arena, or they would all compete for the
    /// same few lines of the processor's cache.
    first: usize,
    /// Pairs of an offset in units of 16 bytes and a position.
    notes: *mut (u32, u32),
    noted: usize,
    /// Events of the thread so far.
    pub(crate) position: u32,
}

/// A block's thread and time of birth are known from its address: see [`Arena::birth`].
impl Arena {
    /// A free arena, or none when all address space is taken.
    pub(crate) fn take() -> Option<Box<Arena>> {
        let mut free = FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut arena = Box::new(free.take()?);
        drop(free);
        if arena.notes.is_null() {
            arena.notes = map(0, NOTES * size_of::<(u32, u32)>())? as *mut _;
        }
        arena.reset();
        Some(arena)
    }

    /// Hands an arena on to later checks.
    pub(crate) fn give_back(self) {
        let mut free = FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        free.arenas.push(self);
    }

    fn in_region(region: usize, slot: usize) -> Arena {
        let first = slot * 29 % 64 * 64;
        let base = region + slot * ARENA_BYTES;
        Arena { base, used: first, first, notes: std::ptr::null_mut(), noted: 0, position: 0 }
    }

    /// Forgets all blocks.
    #[inline(always)]
    pub(crate) fn reset(&mut self) {
        self.used = self.first;
        self.noted = 0;
        self.position = 0;
    }

    /// Makes the arena look full: everything comes from the system heap, but the thread has an arena.
    #[cold]
    pub(crate) fn close(&mut self) {
        self.reset();
        self.used = ARENA_BYTES;
    }

    /// How many bytes are in use.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Whether the address is in this arena.
    #[inline(always)]
    pub(crate) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base) < ARENA_BYTES
    }

    /// After how many events of its thread the block with this address was allocated.
    pub(crate) fn birth(&self, address: usize) -> Option<u32> {
        let unit = ((address - self.base) / 16) as u32;
        // SAFETY: the first `noted` entries are initialised and stay mapped while `self` lives.
        let notes = unsafe { std::slice::from_raw_parts(self.notes, self.noted) };
        let after = notes.partition_point(|&(start, _)| start <= unit);
        notes.get(after.checked_sub(1)?).map(|&(_, position)| position)
    }

    /// A hash of all bytes in use.
    pub(crate) fn fingerprint(&self, seed: u64) -> u64 {
        // SAFETY: the bytes in use are mapped, and no thread runs meanwhile.
        let bytes = unsafe {
            std::slice::from_raw_parts((self.base + self.first) as *const u8, self.used - self.first)
        };
        crate::spin::hash(bytes, seed)
    }

    #[inline(always)]
    fn allocate(&mut self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(16);
        // Alignments are powers of two; `next_multiple_of` would divide.
        let next = (self.base + self.used).wrapping_add(align - 1) & !(align - 1);
        let start = next.wrapping_sub(self.base);
        // Sizes and alignments may be so large that a sum of them wraps around.
        if start > ARENA_BYTES || layout.size() > ARENA_BYTES - start {
            return std::ptr::null_mut();
        }
        self.used = start + layout.size();
        if self.noted < NOTES {
            // SAFETY: `noted` is below the number of entries that were mapped.
            unsafe { self.notes.add(self.noted).write(((start / 16) as u32, self.position)) };
            self.noted += 1;
        }
        (self.base + start) as *mut u8
    }
}

// SAFETY: an arena is used by one OS thread at a time.
unsafe impl Send for Arena {}

/// Where arenas are put if the place is free, so that addresses are the same in every process.
const WISHED: usize = 0x1000_0000_0000;

/// Maps fresh memory, which costs nothing until it is used.
pub(crate) fn map(wished: usize, bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping; nothing is replaced.
    let start = unsafe {
        libc::mmap(wished as *mut libc::c_void, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    (start != libc::MAP_FAILED).then_some(start as usize)
}

/// Reserves address space for arenas, and says for how many: fewer where the machine grants less.
fn reserve() -> usize {
    let mut count = MAX_ARENAS;
    while count > 0 {
        if let Some(region) = map(WISHED, count * ARENA_BYTES) {
            REGION.store(region, Ordering::Relaxed);
            REGION_BYTES.store(count * ARENA_BYTES, Ordering::Relaxed);
            break;
        }
        count /= 2;
    }
    count
}

/// Whether the address belongs to any arena.
#[inline(always)]
pub(crate) fn is_ours(address: usize) -> bool {
    address.wrapping_sub(REGION.load(Ordering::Relaxed)) < REGION_BYTES.load(Ordering::Relaxed)
}

/// Makes this OS thread allocate from an arena, or from the system heap; returns what it did
/// before.
#[inline(always)]
pub(crate) fn enter(arena: *mut Arena) -> *mut Arena {
    ACTIVE.replace(arena)
}

/// A block of the arena that this OS thread allocates from; null if there is none, or it is full.
#[inline(always)]
fn from_arena(layout: Layout) -> *mut u8 {
    let arena = ACTIVE.get();
    if arena.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: `enter` is given arenas that outlive their use, by the one OS thread that uses them.
    let block = unsafe { (*arena).allocate(layout) };
    if block.is_null() {
        current::set_spilled(true);
    }
    block
}

/// A global allocator under which checked threads have memory of their own.
///
/// `unpick` installs it by default. A program with an allocator of its own wraps that one:
///
/// ```
/// use std::alloc::System;
/// use unpick_runtime::Allocator;
///
/// static ALLOCATOR: Allocator<System> = Allocator::new(System);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator<A = System> {
    outside: A,
}

impl<A> Allocator<A> {
    /// An allocator that uses `outside` for everything but checked threads.
    pub const fn new(outside: A) -> Allocator<A> {
        Allocator { outside }
    }
}

// SAFETY: blocks come from an arena, where no two overlap before the arena is reset, or from
// `outside`; each goes back to where it came from, which its address tells.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = from_arena(layout);
        if !block.is_null() {
            return block;
        }
        // SAFETY: as the caller promises.
        unsafe { self.outside.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = from_arena(layout);
        if block.is_null() {
            // SAFETY: as the caller promises.
            return unsafe { self.outside.alloc_zeroed(layout) };
        }
        // SAFETY: a block that is not null has `size` bytes.
        unsafe { block.write_bytes(0, layout.size()) };
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !is_ours(block as usize) {
            // SAFETY: not ours, so it came from `outside`.
            unsafe { self.outside.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ours(block as usize) {
            // SAFETY: not ours, so it came from `outside`.
            return unsafe { self.outside.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises a valid size; old and new block do not overlap.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(size));
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_size_and_no_alignment_is_too_large_to_be_refused() {
        let mut arena = Arena::take().expect("address space");
        let used = arena.used;
        for align in [1usize, 16, 1 << 30, 1 << 47, 1 << 62, 1 << 63] {
            let largest = (isize::MAX as usize + 1) - align;
            for size in [largest, largest / 2, ARENA_BYTES + 1] {
                let Ok(layout) = Layout::from_size_align(size, align) else { continue };
                assert!(arena.allocate(layout).is_null(), "{layout:?}");
            }
        }
        assert_eq!(arena.used, used);
        let small = arena.allocate(Layout::new::<u64>());
        assert!(arena.contains(small as usize) && is_ours(small as usize));
        assert!(!is_ours(&raw const used as usize) && !is_ours(0));
        arena.give_back();
    }
}
