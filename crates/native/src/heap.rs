//! The heap of the program.
//!
//! Each thread has an arena at an address of its own, from which blocks are taken one after another: what a
//! thread gets depends on nothing but its own calls, and no address is used twice in an execution. Between blocks
//! there is a gap. What is known about a block is kept apart from the program's memory.
//!
//! The first arena is for what libraries allocated before the program began, and for what the C library needs for the engine.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::Point;

use crate::sys;

/// Where the arenas lie.
const BASE: usize = 0x1000_0000_0000;
/// Address space of an arena.
const SPACE: usize = 1 << 32;
/// Arenas at most.
const MOST: usize = 4096;
/// Memory is mapped in parts of so many bytes.
const PART: usize = 1 << 26;
/// Bytes between blocks at least.
const GAP: usize = 16;
/// From so many bytes on, memory is given back to be zero again.
const LARGE: usize = 1 << 18;

/// A block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) size: usize,
    /// The thread that has allocated it; `None`: it was there before the program began.
    pub(crate) owner: Option<ThreadId>,
    /// How many events its thread had had.
    pub(crate) birth: u32,
    /// Where it was allocated.
    pub(crate) site: Site,
    /// Where it was freed.
    pub(crate) freed: Option<Point>,
    /// Whether it was filled with what [`filling`] says when it was allocated.
    pub(crate) undefined: bool,
}

impl Block {
    fn new(start: usize, size: usize, owner: Option<Owner>) -> Block {
        let (birth, site) = owner.map_or((0, Site(0)), |owner| (owner.position, owner.site));
        let owner = owner.map(|owner| owner.thread);
        Block { start, size, owner, birth, site, freed: None, undefined: false }
    }

    /// Whether an address is one of the block.
    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.start..self.start + self.size).contains(&address)
    }
}

#[derive(Debug, Default)]
struct Arena {
    top: usize,
    mapped: usize,
    /// In the order of their addresses.
    blocks: Vec<Block>,
}

impl Arena {
    /// A block of so many bytes; 0 if there is no room.
    fn take(&mut self, base: usize, size: usize, align: usize, owner: Option<Owner>) -> usize {
        if self.mapped == 0 {
            (self.top, self.mapped) = (base, base);
        }
        let start = (self.top + GAP).checked_next_multiple_of(align.max(16));
        let end = start.and_then(|start| start.checked_add(size.max(1)));
        let (Some(start), Some(end)) = (start, end.filter(|&end| end <= base + SPACE - PART)) else {
            return 0;
        };
        while self.mapped < end {
            let part = (end - self.mapped).next_multiple_of(PART);
            if sys::map(self.mapped, part).is_none() {
                return 0;
            }
            self.mapped += part;
        }
        self.top = end;
        self.blocks.push(Block::new(start, size, owner));
        start
    }

    /// The number of the block that has an address, or comes last before it.
    fn near(&self, address: usize) -> Option<usize> {
        self.blocks.partition_point(|block| block.start <= address).checked_sub(1)
    }

    /// Forgets all blocks from `count` on, whose memory is zero again.
    fn cut(&mut self, count: usize, top: usize) {
        self.blocks.truncate(count);
        let size = self.top - top;
        if size >= LARGE {
            let page = top.next_multiple_of(4096);
            let arguments = [page, self.top - page, libc::MADV_DONTNEED as usize, 0, 0, 0];
            // SAFETY: memory of the arena that no block has any more.
            unsafe {
                std::ptr::write_bytes(top as *mut u8, 0, page - top);
                sys::call(libc::SYS_madvise, arguments);
            }
        } else if size > 0 {
            // SAFETY: as above.
            unsafe { std::ptr::write_bytes(top as *mut u8, 0, size) };
        }
        self.top = top;
    }
}

#[derive(Debug, Default)]
struct Heap {
    /// The first belongs to nobody; that of a thread comes after those of the threads before it.
    arenas: Vec<Arena>,
    /// Blocks of the first arena before the program began, and where they ended.
    kept: (usize, usize),
    /// Those of them that were freed since.
    freed: Vec<usize>,
}

/// What is known of the heap, in the engine's own memory. One OS thread uses it: in a check there is only one that runs code.
static HEAP: AtomicPtr<Heap> = AtomicPtr::new(null_mut());

#[inline(always)]
fn heap() -> &'static mut Heap {
    let mut heap = HEAP.load(Relaxed);
    if heap.is_null() {
        heap = Box::leak(Box::default());
        HEAP.store(heap, Relaxed);
    }
    // SAFETY: it is never freed; no caller in this module holds a reference across a call of another.
    unsafe { &mut *heap }
}

/// Who allocates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) thread: ThreadId,
    /// How many events it has had.
    pub(crate) position: u32,
    pub(crate) site: Site,
}

/// A block of memory, all zero; 0 if there is none. Without an owner it belongs to no thread.
pub(crate) fn allocate(size: usize, align: usize, owner: Option<Owner>) -> usize {
    let number = owner.map_or(0, |owner| owner.thread.index() + 1);
    let heap = heap();
    if number >= MOST {
        return 0;
    }
    if number >= heap.arenas.len() {
        heap.arenas.resize_with(number + 1, Arena::default);
    }
    heap.arenas[number].take(BASE + number * SPACE, size, align, owner)
}

/// Whether an address lies in an arena.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(BASE) < SPACE * MOST
}

/// What an address of the heap belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) block: Block,
    /// The thread that allocated it; `None`: it was there before the program began.
    pub(crate) thread: Option<ThreadId>,
    /// How many blocks the thread had allocated before.
    pub(crate) number: usize,
}

/// The block that has an address of the heap, or comes last before it in its arena.
pub(crate) fn find(address: usize) -> Option<Found> {
    let number = address.wrapping_sub(BASE) / SPACE;
    let arena = heap().arenas.get(number)?;
    let index = arena.near(address)?;
    let block = arena.blocks[index];
    Some(Found { block, thread: block.owner, number: index })
}

/// A moment of a thread's arena: how many blocks it had, and where they ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize, usize);

/// What a thread has allocated up to now.
pub(crate) fn mark(thread: ThreadId) -> Mark {
    let arena = heap().arenas.get(thread.index() + 1).filter(|arena| arena.mapped > 0);
    arena.map_or(Mark(0, 0), |arena| Mark(arena.blocks.len(), arena.top))
}

/// The blocks that a thread has allocated since.
pub(crate) fn since(thread: ThreadId, mark: Mark) -> &'static [Block] {
    heap().arenas.get(thread.index() + 1).map_or(&[], |arena| &arena.blocks[mark.0..])
}

/// Forgets the blocks that a thread has allocated since.
pub(crate) fn rewind(thread: ThreadId, mark: Mark) {
    let number = thread.index() + 1;
    if let Some(arena) = heap().arenas.get_mut(number).filter(|arena| arena.blocks.len() > mark.0) {
        arena.cut(mark.0, mark.1.max(BASE + number * SPACE));
    }
}

/// What a word of a thread stands for if it points into a block that the thread has allocated and freed: the place where it
/// was allocated, and the byte.
pub(crate) fn settle(thread: ThreadId, word: u64) -> Option<u64> {
    let address = word as usize;
    let block = contains(address).then(|| find(address)).flatten()?.block;
    let own = block.owner == Some(thread) && block.freed.is_some_and(|at| at.thread == thread);
    let byte = address - block.start;
    (own && byte <= block.size && byte < 1 << 16).then_some(block.site.0 << 16 | byte as u64)
}

/// Notes that the block that begins at an address was freed.
pub(crate) fn free(address: usize, at: Point) {
    let heap = heap();
    let number = address.wrapping_sub(BASE) / SPACE;
    let Some(arena) = heap.arenas.get_mut(number) else { return };
    let Some(index) = arena.near(address) else { return };
    if number == 0 && index < heap.kept.0 {
        heap.freed.push(index);
    }
    arena.blocks[index].freed = Some(at);
}

/// Takes the present state as that to which [`restore`] goes back. No thread has allocated anything.
pub(crate) fn keep() {
    let heap = heap();
    heap.kept = heap.arenas.first().map_or((0, 0), |arena| (arena.blocks.len(), arena.top));
    heap.freed.clear();
}

/// The memory in use of what belongs to no thread.
pub(crate) fn kept() -> Option<(usize, usize)> {
    heap().arenas.first().filter(|arena| arena.top > 0).map(|arena| (BASE, arena.top))
}

/// Forgets what was allocated and freed since [`keep`].
pub(crate) fn restore() {
    let heap = heap();
    let (count, top) = heap.kept;
    for (number, arena) in heap.arenas.iter_mut().enumerate() {
        match number {
            _ if arena.mapped == 0 => arena.blocks.clear(),
            0 => arena.cut(count, top),
            _ => arena.cut(0, BASE + number * SPACE),
        }
    }
    while let Some(index) = heap.freed.pop() {
        heap.arenas[0].blocks[index].freed = None;
    }
}

/// How far each arena is mapped in this process.
pub(crate) fn mapped() -> Vec<usize> {
    heap().arenas.iter().map(|arena| arena.mapped).collect()
}

/// Says again how far each arena is mapped in this process, after another one has used the heap.
pub(crate) fn set_mapped(mapped: &[usize]) {
    let own = mapped.iter().copied().chain(std::iter::repeat(0));
    for (arena, mapped) in heap().arenas.iter_mut().zip(own) {
        arena.mapped = mapped;
        arena.top = arena.top.min(mapped);
    }
}

/// All blocks that there are.
pub(crate) fn blocks() -> Vec<Block> {
    heap().arenas.iter().flat_map(|arena| &arena.blocks).copied().collect()
}

/// The blocks of threads that nobody has freed.
pub(crate) fn left() -> Vec<Found> {
    let blocks = heap().arenas.iter().skip(1).flat_map(|arena| {
        let blocks = arena.blocks.iter().enumerate();
        blocks.map(|(number, &block)| Found { block, thread: block.owner, number })
    });
    blocks.filter(|found| found.block.freed.is_none()).collect()
}

/// The block of so many bytes, of those that threads had, that was freed last as far as is `known`.
pub(crate) fn freed(size: usize, known: impl Fn(Point) -> bool) -> Option<usize> {
    let blocks = heap().arenas.iter().skip(1).flat_map(|arena| &arena.blocks);
    let freed = blocks.filter(|block| block.size == size);
    let freed = freed.filter_map(|block| Some((block.freed.filter(|&at| known(at))?, block.start)));
    freed.max_by_key(|(at, start)| (at.index, at.thread, *start)).map(|(_, start)| start)
}

/// What a byte of memory holds that nothing was written to: it differs from place to place, so that a copy of it is
/// taken for something that was written, and it is no letter.
pub(crate) fn filling(address: usize) -> u8 {
    let word = (address >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    word.to_ne_bytes()[address & 7] | 0x80
}

/// From so many bytes on, a block counts as written to.
const MOST_FILLED: usize = 1 << 16;

/// Says that nothing was written to a block yet.
pub(crate) fn undefine(address: usize) {
    let number = address.wrapping_sub(BASE) / SPACE;
    let Some(arena) = heap().arenas.get_mut(number) else { return };
    let Some(index) = arena.near(address) else { return };
    let block = &mut arena.blocks[index];
    if block.size < MOST_FILLED {
        block.undefined = true;
        for at in block.start..block.start + block.size {
            // SAFETY: a byte of a block that was just allocated.
            unsafe { std::ptr::write_volatile(at as *mut u8, filling(at)) };
        }
    }
}

/// Gives a block that was freed to another owner.
pub(crate) fn renew(address: usize, owner: Owner) {
    let number = address.wrapping_sub(BASE) / SPACE;
    let Some(arena) = heap().arenas.get_mut(number) else { return };
    let Some(index) = arena.near(address) else { return };
    let Block { start, size, .. } = arena.blocks[index];
    arena.blocks[index] = Block::new(start, size, Some(owner));
}
