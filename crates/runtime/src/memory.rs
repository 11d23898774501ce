//! Memory errors: use after free, double and invalid frees, objects in memory nobody wrote to.
//!
//! Freeing a block is like a plain write to everything in it. An earlier use by another thread must
//! happen before it, and no use may come after. Later uses show by themselves: a freed block is
//! filled with a pattern, so the tags in it have lost their stamps. Earlier ones are looked for when
//! a block is freed, by the stamps in it. What is repeated from the record was looked at when it was
//! new.
//!
//! A tag tells the location of an object, but an object that has moved leaves a copy of its tag
//! behind. So before a use is held against a free, the execution is run once more with the path on
//! which the address of every object is noted.
//!
//! What unpick's own `Arc` frees is freed in [`ordered`]. What `Arc` of the standard library frees is ordered after every use by those who held it before,
//! by means that the engine does not see. Frees inside its destructor are found by the call stack,
//! and the freeing of its own block, where the destructor may have left the stack already, by the two
//! counters at its start, which are zero, and were not when threads were resumed before; only uses that come after such frees,
//! or that a thread stands before, are held against them.

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::op::{Addr, Kind as OpKind, Op, Site, ThreadId};
use unpick_core::violation::{Access, Block, Kind, Point, Violation};

use crate::arena::{self, Arena, FREED, NEW};
use crate::current;
use crate::known::Known;
use crate::ops::{Object, leave_for_good};
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::tag::{self, Tag};

/// The stamp of a tag that nothing was written to.
pub(crate) const UNWRITTEN: u64 = u64::from_ne_bytes([NEW; 8]);

/// A block of the program is freed. Its size is taken from the notes: compilers put `free(p)` for
/// `free(realloc(p, size))`, with the size of the new block. Answered by the runtime in rounds that are tried.
#[inline(never)]
pub(crate) extern "C-unwind" fn free(block: usize) -> usize {
    // Engine code runs with the arena put aside; what it frees is not the program's.
    if arena::is_active() || current::is_outside() {
        free_of_program(block);
    }
    forget_scratch();
    0
}

#[inline(always)]
fn free_of_program(block: usize) {
    let Some((session, thread)) = current::get() else { return };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers; no other reference to it is in use while a fiber
    // runs, and this one ends before the fiber is left.
    if !unsafe { (*session).free(thread, block) } {
        leave_for_good(session, thread);
    }
    arena::enter(arena);
}

/// Runs `f`, which frees what other threads have used, and has counted them: all that they did with it
/// happens before, though no event says so.
pub fn ordered<R>(f: impl FnOnce() -> R) -> R {
    let Some((session, _)) = current::get() else { return f() };
    // SAFETY: as in `free`; no reference is held while `f` runs.
    unsafe {
        let before = std::mem::replace(&mut (*session).ordered, true);
        let result = f();
        (*session).ordered = before;
        result
    }
}

/// Keeps the call stack of the allocation that is going on.
#[cold]
#[inline(never)]
pub(crate) fn record_allocation() {
    let Some((session, _)) = current::get() else { return };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `free`.
    if let Some(recorder) = unsafe { &mut (*session).recorder } {
        recorder.allocated();
    }
    arena::enter(arena);
}

/// The access to an object that an op is.
pub(crate) fn access_of(thread: ThreadId, index: u32, op: &Op) -> Access {
    let writes = op.kind == OpKind::Write || op.rmw != unpick_core::op::Rmw::None;
    Access { point: Point { thread, index, site: op.site }, writes, atomic: true }
}

/// A use that stands against a free.
struct Conflict {
    access: Access,
    object: String,
    /// Where the tag is by which it was found.
    tag: usize,
    /// Number of the location or cell.
    number: u32,
    /// Whether the use is still to come.
    to_come: bool,
}

impl Session {
    /// A thread is resumed, and some blocks may be shared pointers.
    #[cold]
    pub(crate) fn look_at_counters(&mut self) {
        self.counters.look(&self.arenas);
    }

    /// The thread in whose memory an address is.
    #[inline]
    fn owner(&self, thread: ThreadId, address: usize) -> Option<ThreadId> {
        let holds = |t: usize| self.arenas[t].as_ref().is_some_and(|arena| arena.contains(address));
        if thread.index() < self.arenas.len() && holds(thread.index()) {
            return Some(thread);
        }
        (0..self.arenas.len()).find(|&t| holds(t)).map(|t| ThreadId(t as u32))
    }

    /// A block, for a violation.
    pub(crate) fn block(&self, thread: ThreadId, number: usize) -> Option<Block> {
        let note = self.arenas[thread.index()].as_ref()?.notes().get(number)?;
        Some(Block { thread, number, birth: note.birth, size: note.size() })
    }

    /// Frees a block; `false` when the thread must stop.
    #[inline]
    fn free(&mut self, thread: ThreadId, address: usize) -> bool {
        // Memory of another check, or of an earlier execution, that the standard library kept.
        let Some(owner) = self.owner(thread, address) else { return true };
        let Some(arena) = &self.arenas[owner.index()] else { return true };
        let Some((number, within)) = arena.find(address) else {
            return !arena.uses(address) || self.bad_free(thread, owner, None);
        };
        let note = arena.notes()[number];
        if within != 0 || note.freed().is_some() {
            return self.bad_free(thread, owner, Some((number, within)));
        }
        let size = note.size() as usize;
        let looks = !self.ordered && self.execution.is_fresh(thread);
        if looks && !self.may_free(thread, owner, number, address, size) {
            return false;
        }
        let position = self.execution.position(thread);
        if let Some(recorder) = &mut self.recorder {
            recorder.freed(owner, number, thread);
        }
        if let Some(arena) = &mut self.arenas[owner.index()] {
            arena.free(number, thread, position);
        }
        true
    }

    /// Says what is wrong with a free.
    #[cold]
    #[inline(never)]
    fn bad_free(&mut self, thread: ThreadId, owner: ThreadId, at: Option<(usize, usize)>) -> bool {
        let block = at.and_then(|(number, ..)| self.block(owner, number));
        let freed = at.and_then(|(number, ..)| self.arenas[owner.index()].as_ref()?.notes()[number].freed());
        let kind = match (at, block, freed) {
            (Some((_, 0)), Some(block), Some((by, index))) => {
                Kind::DoubleFree { first: Point { thread: by, index, site: Site(0) }, block }
            }
            (Some((_, within)), Some(block), _) => Kind::InvalidFree {
                problem: format!(
                    "an address is freed that is {within} bytes into a block of {} bytes",
                    block.size
                ),
                block: Some(block),
            },
            _ => Kind::InvalidFree {
                problem: String::from("an address is freed where no block of memory is"),
                block: None,
            },
        };
        self.misuse(thread, Site(0), kind);
        false
    }

    /// Ends the execution with a violation of the running thread.
    #[cold]
    pub(crate) fn misuse(&mut self, thread: ThreadId, site: Site, kind: Kind) {
        let point = Point { thread, index: self.execution.position(thread), site };
        if let Some(recorder) = &mut self.recorder {
            recorder.faulted(thread);
        }
        self.execution.fail(Violation { kind, point });
    }

    /// Whether every use of a block by another thread happens before the running thread frees it.
    #[inline]
    fn may_free(
        &mut self,
        thread: ThreadId,
        owner: ThreadId,
        number: usize,
        start: usize,
        size: usize,
    ) -> bool {
        let stamp = self.stamp();
        for tag in (start..(start + size).saturating_sub(size_of::<Tag>() - 1)).step_by(align_of::<Tag>()) {
            // SAFETY: the whole tag would be within the block, which is mapped.
            let words = unsafe { ((tag as *const u64).read(), (tag as *const u32).add(2).read()) };
            if words.0 == stamp
                && let Some(conflict) = self.conflict(thread, tag, words.1)
                && !self.excuse(&conflict, owner, start)
            {
                if std::mem::take(&mut self.counters.missed) {
                    self.execution.repeat();
                } else {
                    self.refuse(thread, owner, number, conflict);
                }
                return false;
            }
        }
        true
    }

    /// A use of an object that stands against freeing its memory.
    fn conflict(&mut self, thread: ThreadId, tag: usize, number: u32) -> Option<Conflict> {
        let view = self.execution.view(thread);
        if let Some(cell) = tag::cell(number) {
            let access = self.cells.unknown(cell, thread, view)?;
            let object = self.known_cells[cell as usize].kind.to_string();
            return Some(Conflict { access, object, tag, number, to_come: false });
        }
        self.view.clear();
        self.view.extend_from_slice(view);
        let addr = Addr(number);
        let graph = self.execution.graph();
        if addr.index() >= graph.location_count() {
            return None;
        }
        let object = || self.known[addr.index()].kind.to_string();
        let standing = (0..graph.thread_count()).map(|t| ThreadId(t as u32)).find_map(|other| {
            let op = self.execution.pending(other).filter(|op| other != thread && op.addr == addr)?;
            Some(access_of(other, self.execution.position(other), op))
        });
        if let Some(access) = standing {
            return Some(Conflict { access, object: object(), tag, number, to_come: true });
        }
        let is_unknown = |event: &&EventId| event.thread != thread && !knows(&self.view, **event);
        let unknown = graph.writes(addr).iter().chain(graph.reads(addr)).find(is_unknown)?;
        let event = graph.event(*unknown);
        let point = Point { thread: unknown.thread, index: unknown.index, site: event.site };
        let access = Access { point, writes: event.is_write(), atomic: true };
        Some(Conflict { access, object: object(), tag, number, to_come: false })
    }

    /// Whether a use is not to be held against a free after all.
    #[cold]
    #[inline(never)]
    fn excuse(&mut self, conflict: &Conflict, owner: ThreadId, start: usize) -> bool {
        let mut is_ordered = || {
            current::quiet().is_some()
                || looks_counted(conflict, start) && self.counters.were_there(owner, start)
                || self.shared.is_dropping()
        };
        if !conflict.to_come && is_ordered() {
            self.counters.missed = false;
            return true;
        }
        self.is_careful() && self.address(conflict.number).is_some_and(|address| address != conflict.tag)
    }

    /// Where the object of a location or cell was last used.
    fn address(&self, number: u32) -> Option<usize> {
        match tag::cell(number) {
            Some(cell) => self.cell_addresses.get(cell as usize).copied(),
            None => self.addresses.get(number as usize).copied().filter(|&address| address != 0),
        }
    }

    /// Ends the execution: with a violation, or to run it again with more care.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, thread: ThreadId, owner: ThreadId, number: usize, conflict: Conflict) {
        if !self.is_careful() {
            self.careful = true;
            self.execution.repeat();
            return;
        }
        let Some(block) = self.block(owner, number) else { return };
        let Conflict { access, object, to_come, .. } = conflict;
        let freed = Point { thread, index: self.execution.position(thread), site: Site(0) };
        if let Some(recorder) = &mut self.recorder {
            recorder.freed(owner, number, thread);
        }
        self.misuse(thread, Site(0), Kind::UseAfterFree { access, freed, after: to_come, block, object });
    }

    /// What is known of an object that has no stamp of this run. If it lives in memory that may not be
    /// used, there is nothing, and the execution is ended.
    #[inline(always)]
    pub(crate) fn know(&mut self, object: &Object<'_>, access: Access) -> Option<Known> {
        let address = object.tag as *const Tag as usize;
        let outside = Some(Known::outside(object));
        if !arena::is_ours(address) {
            return outside;
        }
        let thread = access.point.thread;
        let Some(owner) = self.owner(thread, address) else { return outside };
        let Some(arena) = &self.arenas[owner.index()] else { return outside };
        let Some((number, _)) = arena.find(address) else { return outside };
        let note = arena.notes()[number];
        let what = || object.kind.to_string();
        let block = Block { thread: owner, number, birth: note.birth, size: note.size() };
        let kind = if let Some((by, index)) = note.freed() {
            let freed = Point { thread: by, index, site: Site(0) };
            Kind::UseAfterFree { access, freed, after: true, block, object: what() }
        } else if object.tag.stamp() == UNWRITTEN {
            Kind::Uninitialised { access, block, object: what() }
        } else {
            return Some(Known::born(object, owner, note.birth));
        };
        self.misuse(thread, access.point.site, kind);
        None
    }

    /// The program has used an address that it must not use.
    pub(crate) fn crashed(&mut self, thread: ThreadId, address: usize, registers: &[usize]) {
        let is_near = |pattern: u8| {
            let pattern = usize::from_ne_bytes([pattern; size_of::<usize>()]);
            registers.iter().any(|register| register.abs_diff(pattern) < 1 << 16)
        };
        let problem = if is_near(FREED) {
            String::from("an address was used that comes from memory that had been freed")
        } else if is_near(NEW) {
            String::from("an address was used that comes from memory that nothing was written to")
        } else if address < 1 << 16 {
            String::from("a null pointer was used")
        } else {
            String::from("an address was used where there is no memory of the program")
        };
        self.worn = true;
        self.misuse(thread, Site(0), Kind::Crash { problem });
    }
}

/// Whether a block looks like one of the standard library's shared pointers that nobody has any more:
/// two counters that are zero, and the contents behind them.
fn looks_counted(conflict: &Conflict, start: usize) -> bool {
    // SAFETY: the block holds a whole tag that begins behind the two words.
    conflict.tag - start >= 16 && unsafe { (start as *const [usize; 2]).read() == [0, 0] }
}

/// A block that may be one of the standard library's shared pointers, since it begins with two zeros when it is freed.
#[derive(Debug)]
struct Counted {
    owner: ThreadId,
    start: usize,
    /// Whether it began with two counts earlier in this run.
    seen: bool,
}

/// Blocks that may begin with the counters of a shared pointer. Whoever drops the last handle had it when it was resumed, so that
/// the counters were not zero then; other blocks that begin with zeros did so before.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    blocks: Vec<Counted>,
    /// Whether a block was freed that was not looked at in this run.
    missed: bool,
}

impl Counters {
    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.seen = false);
        self.missed = false;
    }

    /// Whether the block began with counts when threads were resumed. If it is not known, it will be in the next run.
    fn were_there(&mut self, owner: ThreadId, start: usize) -> bool {
        match self.blocks.iter().find(|block| (block.owner, block.start) == (owner, start)) {
            Some(block) => block.seen,
            None => {
                self.blocks.push(Counted { owner, start, seen: false });
                self.missed = true;
                false
            }
        }
    }

    /// Whether no block is known that may be a shared pointer.
    #[inline(always)]
    pub(crate) fn are_none(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A thread is resumed: looks at the blocks that are there.
    fn look(&mut self, arenas: &[Option<Box<Arena>>]) {
        for block in self.blocks.iter_mut().filter(|block| !block.seen) {
            block.seen = begins_with_counts(arenas, block.owner, block.start);
        }
    }
}

/// Whether there is a block that begins with two counts.
fn begins_with_counts(arenas: &[Option<Box<Arena>>], owner: ThreadId, start: usize) -> bool {
    let Some(Some(arena)) = arenas.get(owner.index()) else { return false };
    if !arena.contains(start) {
        return false;
    }
    let Some((number, 0)) = arena.find(start) else { return false };
    let note = &arena.notes()[number];
    let is_count = |word: &usize| (1..1 << 31).contains(word);
    // SAFETY: the block is there, and large enough.
    note.freed().is_none()
        && note.size() as usize >= size_of::<[usize; 2]>()
        && unsafe { (start as *const [usize; 2]).read() }.iter().all(is_count)
}

/// Tells frees inside the destructor of the standard library's shared pointers.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Return addresses that have been looked up.
    known: Vec<(usize, bool)>,
}

impl Shared {
    /// Whether the running thread is in such a destructor.
    fn is_dropping(&mut self) -> bool {
        let mut found = false;
        backtrace::trace(|frame| {
            let call = frame.ip() as usize;
            let known = self.known.iter().find(|(known, _)| *known == call).map(|&(_, is)| is);
            let is = known.unwrap_or_else(|| {
                let is = is_destructor(call);
                self.known.push((call, is));
                is
            });
            found |= is;
            !found
        });
        found
    }
}

/// Whether the code that a call returns to is in the destructor of a shared pointer.
fn is_destructor(call: usize) -> bool {
    let mut is = false;
    // The address is where the call returns to; the call itself is before.
    backtrace::resolve(call.saturating_sub(1) as *mut std::ffi::c_void, |symbol| {
        let name = symbol.name().map_or_else(String::new, |name| format!("{name:#}"));
        is |= name.contains("alloc::sync::Arc") && name.contains("drop_slow");
        is |= name.contains("alloc::sync::Weak") && name.ends_with("::drop");
    });
    is
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};

    use super::*;

    /// Arenas of which the second holds a block of two words with these contents; where the block is.
    fn holding(words: [usize; 2]) -> (Vec<Option<Box<Arena>>>, usize) {
        let mut arena = Arena::take().expect("address space");
        let before = arena::enter(&raw mut *arena);
        // SAFETY: the layout has a size; the block is new, and has two words.
        let block = unsafe {
            let block = crate::Allocator::new(System).alloc(Layout::new::<[usize; 2]>());
            block.cast::<[usize; 2]>().write(words);
            block
        };
        arena::enter(before);
        (vec![None, Some(arena)], block as usize)
    }

    #[test]
    fn two_counts_look_like_a_shared_pointer() {
        for (words, expected) in
            [([1, 1], true), ([3, 2], true), ([0, 1], false), ([1, 0], false), ([1, 1 << 31], false)]
        {
            let (arenas, start) = holding(words);
            assert_eq!(begins_with_counts(&arenas, ThreadId(1), start), expected, "{words:?}");
            assert!(!begins_with_counts(&arenas, ThreadId(0), start), "it is another thread's");
            assert!(!begins_with_counts(&arenas, ThreadId(1), start + 8), "no block begins there");
            arenas.into_iter().flatten().for_each(|arena| arena.give_back());
        }
    }

    #[test]
    fn a_block_that_was_freed_is_no_shared_pointer() {
        let (mut arenas, start) = holding([1, 1]);
        let arena = arenas[1].as_mut().expect("an arena");
        arena.free(0, ThreadId(1), 3);
        // SAFETY: the memory is still mapped, and nobody else's.
        unsafe { (start as *mut [usize; 2]).write([1, 1]) };
        assert!(!begins_with_counts(&arenas, ThreadId(1), start));
        arenas.into_iter().flatten().for_each(|arena| arena.give_back());
    }

    #[test]
    fn a_block_is_looked_at_in_the_run_after_it_was_missed() {
        let (arenas, start) = holding([1, 1]);
        let mut counters = Counters::default();
        assert!(counters.are_none());
        assert!(!counters.were_there(ThreadId(1), start) && counters.missed);
        counters.begin();
        assert!(!counters.missed && !counters.are_none());
        assert!(!counters.were_there(ThreadId(1), start), "nobody was resumed yet");
        counters.look(&arenas);
        assert!(counters.were_there(ThreadId(1), start) && !counters.missed);
        counters.begin();
        assert!(!counters.were_there(ThreadId(1), start), "each run looks for itself");
        arenas.into_iter().flatten().for_each(|arena| arena.give_back());
    }
}
