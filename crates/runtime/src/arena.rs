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
//! Each arena also notes for every block after how many events of its thread it was allocated, and
//! who freed it and when: that tells whether another thread may know of the block's contents, and
//! whether it may use them. New blocks and freed ones are filled with patterns, so that an object
//! which lives in neither kind of memory is told from one that does by the stamp of its tag alone.
//!
//! Blocks of the library's own ([`untracked`]) lie in the upper half of each arena, without notes.
//!
//! In the execution that is thrown away, memory comes from the system heap, and what the program
//! frees is kept: freeing it twice would be the end of the process. A check whose threads have no arenas
//! also keeps what is freed until the execution ends, so that no address is used twice, and pointers that
//! are equal in one run are equal in all.

mod foresight;
mod mark;
mod pages;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use unpick_core::op::ThreadId;

use crate::current;

pub(crate) use mark::Mark;
use pages::fill;
pub(crate) use pages::protect;

/// Address space per thread.
const ARENA_BYTES: usize = 64 << 20;
/// Where the half without notes begins.
const HALF: usize = ARENA_BYTES / 2;
/// How many blocks of one arena have notes; later ones are untracked.
const NOTES: usize = 1 << 20;
/// Address space for the notes of one arena.
const NOTE_BYTES: usize = NOTES * size_of::<Note>();
/// What new memory is filled with. As an address it is well aligned, and nothing is there.
pub(crate) const NEW: u8 = 0xa0;
/// What freed memory is filled with. As an address it is well aligned, and nothing is there.
pub(crate) const FREED: u8 = 0xd0;
/// In place of the thread that freed a block.
const LIVE: u32 = u32::MAX;
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
        let (region, slot) = (REGION.load(Ordering::Relaxed), self.made - 1);
        let mut arena = Arena::in_region(region, slot);
        arena.notes = (region + most * ARENA_BYTES + slot * NOTE_BYTES) as *mut Note;
        Some(arena)
    }
}

/// What is known of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    /// Where it begins in the arena, in units of 16 bytes.
    start: u32,
    /// After how many events of its thread it was allocated.
    pub(crate) birth: u32,
    /// Bytes that were asked for, and whether the block has an owner.
    size_and_owner: u32,
    /// The thread that freed it, or `LIVE`.
    freed_by: u32,
    /// After how many events of that thread.
    freed_at: u32,
}

/// Marks blocks that have an owner. Sizes are smaller than an arena.
const OWNED: u32 = 1 << 31;

impl Note {
    /// Bytes that were asked for.
    #[inline(always)]
    pub(crate) fn size(&self) -> u32 {
        self.size_and_owner & !OWNED
    }

    /// Whether the block was allocated in [`owned`].
    pub(crate) fn is_owned(&self) -> bool {
        self.size_and_owner & OWNED != 0
    }

    /// The thread that freed the block, and after how many events, if one has.
    pub(crate) fn freed(&self) -> Option<(ThreadId, u32)> {
        (self.freed_by != LIVE).then_some((ThreadId(self.freed_by), self.freed_at))
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
    /// Where they end at the latest.
    limit: usize,
    /// How far the upper half is used.
    used_untracked: usize,
    /// Whether blocks get no notes now.
    untracked: bool,
    /// What is added to the size of blocks now.
    owner: u32,
    notes: *mut Note,
    noted: usize,
    /// The block at whose allocation the call stack is wanted.
    pub(crate) wanted: usize,
    /// Blocks with notes that have not been freed.
    pub(crate) live: usize,
    /// Events of the thread so far.
    pub(crate) position: u32,
    /// Whether each block has pages of its own.
    paged: bool,
    /// What is kept although it was freed, if that is so.
    kept: Option<Kept>,
}

/// What a program gave back to the system heap, none of which has been freed yet.
#[derive(Debug)]
struct Kept {
    /// What it took from there, if only that is to be freed.
    taken: Option<Vec<(usize, Layout)>>,
    given_back: Vec<(usize, Layout)>,
    /// How many bytes more are kept; the others are freed at once.
    room: usize,
    /// The layout of the block that is the box of a panic's payload, which is taken next.
    box_of_panic: Option<Layout>,
}

/// A block's thread and time of birth are known from its address: see [`Arena::find`].
impl Arena {
    /// A free arena, or none when all address space is taken.
    pub(crate) fn take() -> Option<Box<Arena>> {
        let mut free = FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut arena = Box::new(free.take()?);
        drop(free);
        arena.reset();
        arena.paged = false;
        Some(arena)
    }

    /// An arena without room: the thread uses the system heap, and keeps all that it frees. Only what it took itself is
    /// freed in the end.
    pub(crate) fn keeping() -> Box<Arena> {
        Arena::without_room(Some(Vec::new()), usize::MAX)
    }

    /// An arena without room: the thread uses the system heap, and keeps what it frees, as much as an arena holds.
    pub(crate) fn delaying() -> Box<Arena> {
        Arena::without_room(None, ARENA_BYTES)
    }

    fn without_room(taken: Option<Vec<(usize, Layout)>>, room: usize) -> Box<Arena> {
        let mut arena = Arena::in_region(0, 0);
        let kept = Kept { taken, given_back: Vec::new(), room, box_of_panic: None };
        (arena.limit, arena.used_untracked, arena.kept) = (0, ARENA_BYTES, Some(kept));
        Box::new(arena)
    }

    /// Frees what was kept, each block once.
    pub(crate) fn free_kept(&mut self) {
        let Some(kept) = &mut self.kept else { return };
        let key = |&(block, layout): &(usize, Layout)| (block, layout.size(), layout.align());
        kept.given_back.sort_unstable_by_key(key);
        if let Some(taken) = &mut kept.taken {
            taken.sort_unstable_by_key(key);
            kept.given_back.retain(|block| taken.binary_search_by_key(&key(block), key).is_ok());
            taken.clear();
        }
        kept.given_back.dedup_by_key(|&mut (block, _)| block);
        for (block, layout) in kept.given_back.drain(..) {
            kept.room = kept.room.saturating_add(layout.size());
            // SAFETY: the block was allocated with this layout, and given back by the program,
            // which has ended.
            unsafe { std::alloc::dealloc(block as *mut u8, layout) };
        }
    }

    /// Hands an arena on to later checks.
    pub(crate) fn give_back(self) {
        let mut free = FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        free.arenas.push(self);
    }

    fn in_region(region: usize, slot: usize) -> Arena {
        // Not at the very beginning: the address of the first arena is kept in a static.
        let first = 64 + slot * 29 % 64 * 64;
        Arena {
            base: region + slot * ARENA_BYTES,
            used: first,
            first,
            limit: HALF,
            used_untracked: HALF + first,
            untracked: false,
            owner: 0,
            notes: std::ptr::null_mut(),
            noted: 0,
            wanted: usize::MAX,
            live: 0,
            position: 0,
            paged: false,
            kept: None,
        }
    }

    /// Forgets all blocks.
    #[inline(always)]
    pub(crate) fn reset(&mut self) {
        self.used = self.first;
        self.used_untracked = HALF + self.first;
        self.untracked = false;
        self.owner = 0;
        self.noted = 0;
        self.wanted = usize::MAX;
        self.live = 0;
        self.position = 0;
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

    /// The number of the block that the address is in, or was in before it was freed, and where in
    /// it the address is.
    #[inline]
    pub(crate) fn find(&self, address: usize) -> Option<(usize, usize)> {
        let offset = address - self.base;
        let unit = (offset / 16) as u32;
        let number = self.notes().partition_point(|note| note.start <= unit).checked_sub(1)?;
        let note = &self.notes()[number];
        let within = offset - note.start as usize * 16;
        (within < (note.size() as usize).max(1)).then_some((number, within))
    }

    /// Whether the address is in the part with notes that this execution has used.
    pub(crate) fn uses(&self, address: usize) -> bool {
        (self.first..self.used).contains(&(address - self.base))
    }

    /// The notes of all blocks, in the order of their allocation.
    #[inline(always)]
    pub(crate) fn notes(&self) -> &[Note] {
        if self.noted == 0 {
            return &[];
        }
        // SAFETY: the first `noted` entries are initialised and stay mapped while `self` lives.
        unsafe { std::slice::from_raw_parts(self.notes, self.noted) }
    }

    /// Where a block begins.
    pub(crate) fn start(&self, number: usize) -> usize {
        self.base + self.notes()[number].start as usize * 16
    }

    /// The blocks that have not been freed.
    pub(crate) fn live_blocks(&self) -> impl Iterator<Item = Range<usize>> {
        let notes = self.notes().iter().enumerate().filter(|(_, note)| note.freed().is_none());
        notes.map(|(number, note)| self.start(number)..self.start(number) + note.size() as usize)
    }

    /// Notes that a block was freed, and fills it with the pattern for freed memory.
    #[inline]
    pub(crate) fn free(&mut self, number: usize, thread: ThreadId, position: u32) {
        debug_assert!(number < self.noted && self.notes()[number].freed().is_none());
        // SAFETY: `number` is of an entry that is initialised; the block is within the arena, and
        // the program has given it back.
        unsafe {
            let note = &mut *self.notes.add(number);
            (note.freed_by, note.freed_at) = (thread.0, position);
            fill((self.base + note.start as usize * 16) as *mut u8, note.size() as usize, FREED);
        }
        self.live -= 1;
    }

    /// After how many events of its thread the block with this address was allocated.
    pub(crate) fn birth(&self, address: usize) -> Option<u32> {
        self.find(address).map(|(number, _)| self.notes()[number].birth)
    }

    /// A block; a new one that has notes is filled with its pattern if `fills`.
    #[inline(always)]
    fn allocate(&mut self, layout: Layout, fills: bool) -> *mut u8 {
        if self.untracked {
            return self.allocate_untracked(layout);
        }
        let room = self.next_room(layout.size());
        let placed = self.place(room, self.limit, layout).filter(|_| self.noted < NOTES);
        let Some((start, end)) = placed else { return self.allocate_untracked(layout) };
        // Between blocks there is a gap: the address behind one is not that of another.
        self.used = end + 1;
        let (start_unit, size_and_owner) = ((start / 16) as u32, layout.size() as u32 | self.owner);
        let note =
            Note { start: start_unit, birth: self.position, size_and_owner, freed_by: LIVE, freed_at: 0 };
        // SAFETY: `noted` is below the number of entries that were mapped.
        unsafe { self.notes.add(self.noted).write(note) };
        if self.noted == self.wanted {
            crate::memory::record_allocation();
        }
        self.noted += 1;
        self.live += 1;
        let block = (self.base + start) as *mut u8;
        if fills {
            // SAFETY: the block is nobody's yet, nor is what comes after it; the other half begins
            // with unused memory.
            unsafe { fill_ahead(block, layout.size()) };
        }
        block
    }

    #[inline(always)]
    fn allocate_untracked(&mut self, layout: Layout) -> *mut u8 {
        let Some((start, end)) = self.place(self.used_untracked, ARENA_BYTES, layout) else {
            return std::ptr::null_mut();
        };
        self.used_untracked = end;
        (self.base + start) as *mut u8
    }

    /// Where a block begins and ends that is put after the first `used` bytes, if it fits.
    #[inline(always)]
    fn place(&self, used: usize, limit: usize, layout: Layout) -> Option<(usize, usize)> {
        let align = layout.align().max(16);
        // Alignments are powers of two; `next_multiple_of` would divide.
        let next = (self.base + used).wrapping_add(align - 1) & !(align - 1);
        let start = next.wrapping_sub(self.base);
        let size = layout.size().max(1);
        // Sizes and alignments may be so large that a sum of them wraps around.
        (start <= limit && size <= limit - start).then(|| (start, start + size))
    }
}

/// Fills a new block, the last one, and some unused memory behind it.
#[inline(always)]
unsafe fn fill_ahead(block: *mut u8, size: usize) {
    let mut filled = 0;
    loop {
        // SAFETY: as the caller promises.
        unsafe { block.add(filled).cast::<[u8; 64]>().write([NEW; 64]) };
        filled += 64;
        if filled >= size {
            return;
        }
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

/// Reserves address space for arenas, and for their notes behind them, and says for how many: fewer where the
/// machine grants less.
fn reserve() -> usize {
    let mut count = MAX_ARENAS;
    while count > 0 {
        if let Some(region) = map(WISHED, count * (ARENA_BYTES + NOTE_BYTES)) {
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

/// Whether the block, which belongs to an arena, has notes.
#[inline(always)]
pub(crate) fn is_tracked(block: usize) -> bool {
    (block - REGION.load(Ordering::Relaxed)) & HALF == 0
}

/// Whether this OS thread runs code of a program under test.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    !ACTIVE.get().is_null()
}

/// Whether a block that this OS thread frees is kept.
#[inline(always)]
fn keeps(layout: Layout) -> bool {
    let arena = ACTIVE.get();
    // SAFETY: as in `Allocator::alloc`.
    !arena.is_null() && unsafe { (*arena).kept.as_ref() }.is_some_and(|kept| layout.size() <= kept.room)
}

/// Notes a block of the system heap that was taken or given back while such blocks are kept.
#[cold]
#[inline(never)]
fn keep(block: usize, layout: Layout, taken: bool) {
    let arena = enter(std::ptr::null_mut());
    // SAFETY: as in `Allocator::alloc`; the vectors grow on the system heap.
    match unsafe { arena.as_mut() }.and_then(|arena| arena.kept.as_mut()) {
        Some(kept) if !taken => {
            kept.room -= layout.size();
            kept.given_back.push((block, layout));
        }
        Some(kept) => kept.note_taken(block, layout),
        None => {}
    }
    enter(arena);
}

/// Runs a closure whose allocations are the library's own: they are not looked at, neither when they
/// are used nor when they are freed, and may be left behind.
#[inline(always)]
pub fn untracked<R>(f: impl FnOnce() -> R) -> R {
    let arena = ACTIVE.get();
    if arena.is_null() {
        return f();
    }
    // SAFETY: as in `Allocator::alloc`; a closure that does not return ends the execution, or is one
    // that panics, after which the thread's memory is merely looked at less.
    unsafe {
        let before = std::mem::replace(&mut (*arena).untracked, true);
        let result = f();
        (*arena).untracked = before;
        result
    }
}

/// Runs a closure that makes a block whose owner must give it back: to leave it behind is a leak also where
/// other memory may be left behind.
#[inline(always)]
pub fn owned<R>(f: impl FnOnce() -> R) -> R {
    let arena = ACTIVE.get();
    if arena.is_null() {
        return f();
    }
    // SAFETY: as in `untracked`.
    unsafe {
        let before = std::mem::replace(&mut (*arena).owner, OWNED);
        let result = f();
        (*arena).owner = before;
        result
    }
}

/// Makes this OS thread allocate from an arena, or from the system heap; returns what it did
/// before.
#[inline(always)]
pub(crate) fn enter(arena: *mut Arena) -> *mut Arena {
    ACTIVE.replace(arena)
}

/// Where this OS thread has what it allocates from.
pub(crate) fn place() -> Range<usize> {
    ACTIVE.with(current::place_of)
}

/// The arena that this OS thread allocates from, or null.
#[inline(always)]
pub(crate) fn current() -> *mut Arena {
    ACTIVE.get()
}

/// A block of the arena that this OS thread allocates from; null if there is none, or it is full.
#[inline(always)]
fn from_arena(layout: Layout, fills: bool) -> *mut u8 {
    let arena = ACTIVE.get();
    if arena.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: `enter` is given arenas that outlive their use, by the one OS thread that uses them.
    let block = unsafe { (*arena).allocate(layout, fills) };
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
        let block = from_arena(layout, true);
        if !block.is_null() {
            return block;
        }
        // SAFETY: as the caller promises.
        let block = unsafe { self.outside.alloc(layout) };
        if is_active() && !block.is_null() {
            // SAFETY: the block is the caller's alone, and has this size.
            unsafe { block.write_bytes(NEW, layout.size()) };
            keep(block as usize, layout, true);
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = from_arena(layout, false);
        if !block.is_null() {
            // SAFETY: a block that is not null has `size` bytes.
            unsafe { block.write_bytes(0, layout.size()) };
            return block;
        }
        // SAFETY: as the caller promises.
        let block = unsafe { self.outside.alloc_zeroed(layout) };
        if is_active() && !block.is_null() {
            keep(block as usize, layout, true);
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !is_ours(block as usize) {
            if keeps(layout) {
                keep(block as usize, layout, false);
            } else {
                // SAFETY: not ours, so it came from `outside`.
                unsafe { self.outside.dealloc(block, layout) }
            }
        } else if is_tracked(block as usize) {
            crate::memory::free(block as usize);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ours(block as usize) && !keeps(layout) {
            // SAFETY: not ours, so it came from `outside`.
            return unsafe { self.outside.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises a valid size; old and new block do not overlap.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
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
                assert!(arena.allocate(layout, true).is_null(), "{layout:?}");
            }
        }
        assert_eq!(arena.used, used);
        let small = arena.allocate(Layout::new::<u64>(), true);
        assert!(arena.contains(small as usize) && is_ours(small as usize));
        assert!(!is_ours(&raw const used as usize) && !is_ours(0));
        arena.give_back();
    }

    #[test]
    fn an_address_tells_its_block_and_when_it_was_allocated() {
        let mut arena = Arena::take().expect("address space");
        arena.position = 5;
        let first = arena.allocate(Layout::new::<[u8; 24]>(), true) as usize;
        arena.position = 9;
        let second = arena.allocate(Layout::new::<u128>(), true) as usize;
        arena.allocate(Layout::new::<u8>(), true);
        let addresses = [first - 1, first, first + 23, first + 24, second, second + 16];
        let found = addresses.map(|address| arena.find(address));
        assert_eq!(found, [None, Some((0, 0)), Some((0, 23)), None, Some((1, 0)), None]);
        assert_eq!([arena.birth(first + 8), arena.birth(second)], [Some(5), Some(9)]);
        arena.give_back();
    }

    #[test]
    fn a_block_knows_who_freed_it_and_holds_the_pattern() {
        let mut arena = Arena::take().expect("address space");
        let block = arena.allocate(Layout::new::<[u8; 20]>(), true).cast::<[u8; 20]>();
        // SAFETY: the block has 20 bytes, and stays mapped when it is freed.
        let contents = || unsafe { block.read() };
        assert_eq!((contents(), arena.notes()[0].freed(), arena.live), ([NEW; 20], None, 1));
        arena.free(0, ThreadId(2), 7);
        assert_eq!((contents(), arena.notes()[0].freed()), ([FREED; 20], Some((ThreadId(2), 7))));
        assert_eq!(arena.live, 0);
        arena.reset();
        assert!(arena.notes().is_empty());
        arena.give_back();
    }

    #[test]
    fn blocks_with_an_owner_and_blocks_without_notes_are_told_apart() {
        let mut arena = Arena::take().expect("address space");
        let before = enter(&raw mut *arena);
        let new = || from_arena(Layout::new::<u64>(), true) as usize;
        let (owned, hidden, other) = (owned(new), untracked(new), new());
        enter(before);
        assert_eq!([owned, hidden, other].map(is_tracked), [true, false, true]);
        assert_eq!(arena.notes().iter().map(Note::is_owned).collect::<Vec<_>>(), [true, false]);
        assert_eq!(arena.notes()[0].size(), 8);
        arena.give_back();
    }
}
