//! Cells to which the program has a pointer, from `UnsafeCell::get` and the like.
//!
//! What is done through the pointer calls nobody. But only one thread runs at a time, and so the bytes of the cell are compared each time that the
//! running thread asks for something, and when it is left: what has changed it has written, before its next event. [`Bytes`] says what
//! that races with. Executions in which no pointer is taken pay for none of this: which path ops take says whether anything is looked at.
//!
//! A cell is looked at from the first pointer on, until its block is freed, its frame is gone, or its owner asks for it alone (`get_mut`), or
//! it is used elsewhere, since it has moved. Until then the bytes where it was are compared. That does no harm: whatever the program keeps
//! there by now, its threads may not write to it in turn without an order. Only what is not written by the program must be left out, which is what objects
//! of unpick keep in memory: their tags, and whatever else they say that they have. Memory of the system heap is used again in an
//! order that is not seen, so cells there are not looked at, and the verdict says so.
//!
//! What the last handle of a `std::sync::Arc` drops comes after what others have done, which no event says:
//! [`Counts`](crate::counts::Counts) tells it, as for what is freed. What unpick's own `Arc` drops out of sight (`shared::quietly`) is nobody's.

mod notes;

use std::ops::Range;

use unpick_checkers::bytes::Bytes;
use unpick_core::clock::knows;
use unpick_core::error::Error;
use unpick_core::event::EventId;
use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::{Access, Kind, Point, Violation};

use crate::memory::UNWRITTEN;
use crate::objects::Objects;
use crate::ops::Object;
use crate::session::Session;
use crate::tag::Tag;
use crate::{arena, counts, current, statics};

pub use notes::Notes;

/// How many bytes are compared at a time, at most.
pub(crate) const MOST: usize = 16 << 10;

/// A cell to which there are pointers.
#[derive(Debug)]
struct Piece {
    /// Where its value begins, and how large that is.
    start: usize,
    size: usize,
    /// Where its tag is.
    tag: usize,
    /// Its number in this run, and the name of its type.
    cell: u32,
    kind: &'static str,
    /// The thread on whose stack it is.
    stack: Option<ThreadId>,
    bytes: Bytes,
}

impl Piece {
    /// What its bytes are now, as far as they are compared.
    fn now<'a>(&self) -> &'a [u8] {
        // SAFETY: the memory is of an arena, of a stack or static, and stays mapped while the session lasts; nothing writes to it while
        // the engine looks, and whatever was written there is a number of bytes.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.bytes.len()) }
    }

    /// Whether the cell is where it was used last.
    fn is_there(&self, objects: &Objects) -> bool {
        objects.cell_addresses.get(self.cell as usize) == Some(&self.tag)
    }

    fn key(&self) -> (usize, usize) {
        (self.start, self.size)
    }

    /// Leaves out what an object keeps in some bytes; whether any of them are its own, and were not left out before.
    fn mask(&mut self, start: usize, size: usize) -> bool {
        let len = self.bytes.len();
        let within = |address: usize| address.saturating_sub(self.start).min(len);
        self.bytes.mask(within(start), within(start.saturating_add(size)))
    }
}

/// Cells to which there are pointers.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    /// In the order of their addresses.
    pieces: Vec<Piece>,
    /// How many bytes are compared.
    bytes: usize,
    /// Those to which the running thread has taken a pointer since it was looked at.
    fresh: Vec<(usize, usize)>,
    spare: Vec<Bytes>,
    /// What is to be said of all runs.
    pub(crate) notes: Notes,
}

impl Lent {
    /// Whether there are none.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// A run begins.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        if !self.pieces.is_empty() {
            self.end_if(|_| true);
        }
    }

    /// Does not look at some pieces any more.
    fn end_if(&mut self, over: impl Fn(&Piece) -> bool) {
        let Lent { pieces, bytes, spare, .. } = self;
        let ended = pieces.extract_if(.., |piece| over(piece));
        spare.extend(ended.map(|piece| {
            *bytes -= piece.bytes.len();
            piece.bytes
        }));
    }

    /// Does not look at a part of memory any more.
    pub(crate) fn end(&mut self, memory: &Range<usize>) {
        self.end_if(|piece| memory.contains(&piece.start));
    }

    /// What is there is nobody's doing.
    pub(crate) fn keep(&mut self) {
        self.pieces.iter_mut().for_each(|piece| piece.bytes.keep(piece.now()));
    }

    /// Leaves out what an object keeps in memory.
    #[inline]
    pub(crate) fn mask(&mut self, object: &Object<'_>) {
        let tag = object.tag as *const Tag as usize;
        let holds = |piece: &&mut Piece| (piece.start..piece.start + piece.size).contains(&tag);
        for piece in self.pieces.iter_mut().filter(holds) {
            if piece.mask(tag, size_of::<Tag>()) {
                piece.mask(object.contents.0 as usize, object.contents.1);
            }
        }
    }

    /// A piece, which begins to be looked at if that is new. `None`: no more bytes can be compared.
    fn piece(
        &mut self,
        (start, size): (usize, usize),
        new: impl FnOnce(Bytes) -> Piece,
    ) -> Option<&mut Piece> {
        let found = self.pieces.binary_search_by_key(&(start, size), Piece::key);
        let index = match found {
            Ok(index) => index,
            Err(index) => {
                let room = size.min(MOST - self.bytes);
                if room == 0 {
                    return None;
                }
                let mut piece = new(self.spare.pop().unwrap_or_default());
                // SAFETY: as in `Piece::now`.
                piece.bytes.begin(unsafe { std::slice::from_raw_parts(start as *const u8, room) });
                self.bytes += room;
                self.pieces.insert(index, piece);
                index
            }
        };
        Some(&mut self.pieces[index])
    }

    /// The piece of an object, if it is looked at where it is now.
    fn of(&self, object: &Object<'_>) -> Option<usize> {
        let key = (object.contents.0 as usize, object.contents.1);
        self.pieces.binary_search_by_key(&key, Piece::key).ok()
    }

    /// Whether this is no news: the thread has asked for the same pointer since its last event.
    fn has_just_lent(&self, object: &Object<'_>, stamp: u64, point: Point) -> bool {
        let is_known = |index: usize| {
            let piece = &self.pieces[index];
            piece.tag == object.tag as *const Tag as usize && piece.bytes.is_last_take(point)
        };
        object.tag.stamp() == stamp && self.of(object).is_some_and(is_known)
    }

    /// A write to cells in a part of memory by a thread that `view` does not know, nor is it `told`; with the tag and the number
    /// of the cell.
    pub(crate) fn unknown(
        &self,
        memory: &Range<usize>,
        thread: ThreadId,
        view: &[u32],
        told: &[u32],
    ) -> Option<(usize, u32, Access)> {
        let within = self.pieces.iter().filter(|piece| memory.contains(&piece.start));
        within.into_iter().find_map(|piece| {
            let mut writes = piece.bytes.writers(thread, view).map(write_at);
            let write = writes.find(|write| !counts::tell(told, write))?;
            Some((piece.tag, piece.cell, write))
        })
    }

    /// A cell is somewhere else by now: where it was is not looked at any more.
    #[inline(always)]
    pub(crate) fn moved(&mut self, cell: u32, tag: usize) {
        if self.pieces.iter().any(|piece| piece.cell == cell && piece.tag != tag) {
            self.end_if(|piece| piece.cell == cell && piece.tag != tag);
        }
    }
}

fn write_at(point: Point) -> Access {
    Access { point, writes: true, atomic: false }
}

/// The run ends here, to be repeated or for good.
pub(crate) struct RunIsOver;

/// What is to be made of an access that no event orders before a later one.
enum Doubt {
    /// Counts of the standard library order it.
    Excused,
    /// The run has ended, to be repeated or for good.
    Over,
    /// Nothing does, but for what is unseen of an `Arc` with one handle that is among these blocks.
    Unordered(Vec<counts::Place>),
}

impl Session {
    /// Whether anything is looked at that the engine does not see.
    #[inline(always)]
    pub(crate) fn looks(&self) -> bool {
        self.looks_between() || !self.lent.is_empty()
    }

    /// Sees what the running thread has done since it was looked at last. `stack`: frames below are gone; 0: that is not known.
    #[cold]
    #[inline(never)]
    pub(crate) fn look(&mut self, thread: ThreadId, stack: usize) {
        if self.looks_between() {
            self.look_between(thread);
        }
        if self.lent.is_empty() || current::quiet().is_some() || self.search.execution.is_stopped() {
            return;
        }
        let is_gone = |piece: &Piece| piece.stack == Some(thread) && piece.start < stack;
        if self.lent.pieces.iter().any(is_gone) {
            self.lent.end_if(is_gone);
        }
        for index in 0..self.lent.pieces.len() {
            let piece = &self.lent.pieces[index];
            if piece.bytes.seen() != piece.now() {
                self.changed(thread, index);
                if self.search.execution.is_stopped() {
                    return;
                }
            }
        }
        if !self.lent.fresh.is_empty() {
            self.note_unordered_takes(thread);
        }
    }

    /// The bytes of a piece are not what they were.
    #[cold]
    fn changed(&mut self, thread: ThreadId, index: usize) {
        let stamps = [self.stamp(), self.heap_stamp()];
        let piece = &mut self.lent.pieces[index];
        mask_tags(piece, stamps);
        let now = piece.now();
        if !piece.bytes.is_changed(now) {
            piece.bytes.keep(now);
            return;
        }
        let (cell, kind, is_there) = (piece.cell, piece.kind, piece.is_there(&self.objects));
        let position = self.search.execution.position(thread);
        let here = |point: &Point| point.thread == thread && point.index == position;
        let announced = self.objects.races.last_write(cell).filter(here);
        let site = announced.or_else(|| piece.bytes.taken_by(thread)).map_or(Site(0), |point| point.site);
        let point = Point { thread, index: position, site };
        let memory = piece.start..piece.start + piece.size;
        if let Some(first) = self.conflicting(thread, index, &[]) {
            match self.doubt_about(thread, memory, |s, told| s.conflicting(thread, index, told)) {
                Doubt::Over => return,
                Doubt::Excused => notes::add(&mut self.lent.notes.dropped, site),
                Doubt::Unordered(_) => {
                    let kind = Kind::Race { accesses: [first, write_at(point)], object: kind.to_string() };
                    self.search.execution.fail(Violation { kind, point });
                    return;
                }
            }
        }
        if is_there && let Some(creator) = self.unborn(thread, cell) {
            let kind = Kind::Unpublished { access: write_at(point), creator, object: kind.to_string() };
            self.search.execution.fail(Violation { kind, point });
            return;
        }
        let Session { lent: Lent { pieces, notes, .. }, search, .. } = self;
        let bytes = &mut pieces[index].bytes;
        bytes.write(now, point);
        for take in bytes.takers(thread, search.execution.view(thread)) {
            notes::add(&mut notes.unordered, [site, take.site]);
        }
    }

    /// An earlier access to bytes of a piece that have changed, which is not known to the thread that changed them nor `told`.
    fn conflicting(&mut self, thread: ThreadId, index: usize, told: &[u32]) -> Option<Access> {
        let Session { lent, search, objects, .. } = self;
        let piece = &lent.pieces[index];
        let view = search.execution.view(thread);
        let known = |point: &Point| {
            knows(view, EventId { thread: point.thread, index: point.index })
                || counts::tell(told, &write_at(*point))
        };
        let write = piece.bytes.racing(piece.now(), thread, known).map(write_at);
        write.or_else(|| {
            let told = |access: &Access| counts::tell(told, access);
            objects.races.unknown(piece.cell, thread, view, told).filter(|_| piece.is_there(objects))
        })
    }

    /// Whether counts of the standard library may be what orders an access to a part of memory before one that a thread has made: `first`
    /// looks for one that counts have not told it of.
    #[cold]
    fn doubt_about(
        &mut self,
        thread: ThreadId,
        memory: Range<usize>,
        first: impl Fn(&mut Session, &[u32]) -> Option<Access>,
    ) -> Doubt {
        if !self.frees.counts.are_none() {
            let told = self.frees.counts.moments(thread, self.search.execution.view(thread));
            if first(self, &told).is_none() {
                return Doubt::Excused;
            }
        }
        let own = self.block_around(memory.start);
        let mut holders = self.holders(own.as_ref().map_or(memory, |(_, block)| block.clone()));
        holders.extend(own.map(|(place, _)| place));
        if self.frees.counts.learn(&self.heap.arenas, &holders) {
            self.search.execution.request_rerun();
            return Doubt::Over;
        }
        if self.is_dropping_unseen() {
            return Doubt::Excused;
        }
        if let Some(problem) = self.is_untold() {
            self.search.error = Some(Error::Misuse { problem });
            self.search.execution.request_rerun();
            return Doubt::Over;
        }
        Doubt::Unordered(holders)
    }

    /// The block that an address is in.
    fn block_around(&self, address: usize) -> Option<(counts::Place, Range<usize>)> {
        let arenas = self.heap.arenas.iter().enumerate();
        let mut arenas = arenas.filter_map(|(thread, arena)| Some((thread, arena.as_ref()?)));
        let (thread, arena) = arenas.find(|(_, arena)| arena.contains(address))?;
        let (number, within) = arena.find(address)?;
        let start = address - within;
        Some(((ThreadId(thread as u32), start), start..start + arena.notes()[number].size() as usize))
    }

    /// Who has allocated the memory of a cell, if a thread does not know.
    pub(crate) fn unborn(&mut self, thread: ThreadId, cell: u32) -> Option<ThreadId> {
        let (creator, at) = self.birth_of_cell(cell)?;
        let view = self.search.execution.view(thread);
        let known = view.get(creator.index()).copied().unwrap_or(0);
        (creator != thread && known <= at).then_some(creator)
    }

    /// Of the pointers that the running thread has taken since it was looked at: those by which it may read what others write.
    #[cold]
    fn note_unordered_takes(&mut self, thread: ThreadId) {
        let Session { lent, search, .. } = self;
        let view = search.execution.view(thread);
        let Lent { pieces, fresh, notes, .. } = lent;
        for key in fresh.drain(..) {
            let Ok(index) = pieces.binary_search_by_key(&key, Piece::key) else { continue };
            let bytes = &pieces[index].bytes;
            let Some(take) = bytes.unused_take(thread) else { continue };
            for write in bytes.writers(thread, view) {
                notes::add(&mut notes.unordered, [write.site, take.site]);
            }
        }
    }

    /// A thread takes a pointer to a cell; `false` when it must stop.
    pub(crate) fn lend(&mut self, thread: ThreadId, object: &Object<'_>, site: Site) -> bool {
        let point = Point { thread, index: self.search.execution.position(thread), site };
        let is_plain = self.recorder.is_none() && current::quiet().is_none();
        if is_plain && self.lent.has_just_lent(object, self.stamp(), point) {
            return true;
        }
        let (value, size) = object.contents;
        let address = object.tag as *const Tag as usize;
        let stack = self.fibers.iter().position(|fiber| fiber.contains(address));
        let in_arena = self.is_of_run(address);
        let is_static = !in_arena && stack.is_none() && statics::is_static(address);
        if is_static {
            // The next execution begins with what is there now, whoever writes to it.
            self.objects.statics.save(value, size);
        }
        if self.is_trial || size == 0 || current::is_outside() {
            return true;
        }
        if current::quiet().is_some() {
            notes::add(&mut self.lent.notes.destroyed, site);
            return true;
        }
        if !in_arena && stack.is_none() && !is_static {
            notes::add(&mut self.lent.notes.unseen, site);
            return true;
        }
        if in_arena && object.tag.stamp() == UNWRITTEN && self.is_live(address) {
            // The pointer is what the cell is to be made by.
            object.tag.set(0, 0);
        }
        let Some(cell) = self.cell(object, Access { point, writes: false, atomic: false }) else {
            return false;
        };
        self.objects.races.used_by(cell, thread);
        self.objects.cell_addresses[cell as usize] = address;
        self.lent.moved(cell, address);
        self.note(thread, site);
        let looked = self.looks();
        let (start, kind) = (value as usize, object.kind);
        let stack = stack.map(|thread| ThreadId(thread as u32));
        let new = |bytes| Piece { start, size, tag: address, cell, kind, stack, bytes };
        let piece = self.lent.piece((start, size), new);
        let whole = piece.as_ref().is_some_and(|piece| piece.bytes.len() == size);
        if let Some(piece) = piece {
            (piece.tag, piece.cell, piece.kind, piece.stack) = (address, cell, kind, stack);
            if piece.bytes.take(point) {
                self.lent.fresh.push((start, size));
            }
        }
        notes::add(&mut self.lent.notes.taken, site);
        if !whole {
            notes::add(&mut self.lent.notes.cut, site);
        }
        if !looked && !current::is_watched() {
            self.take_path(false);
        }
        true
    }

    /// The owner of a cell asks for it alone: pointers that were handed out are not to be used any more. What others have written through
    /// them is ordered before, or it is a data race. `false`: the thread must stop.
    pub(crate) fn reclaim(&mut self, thread: ThreadId, object: &Object<'_>, site: Site) -> bool {
        let Some(index) = self.lent.of(object) else { return true };
        self.look(thread, 0);
        if self.search.execution.is_stopped() {
            return false;
        }
        let (memory, kind) = (self.lent.pieces[index].start, object.kind);
        let (memory, point) =
            (memory..memory + 1, Point { thread, index: self.search.execution.position(thread), site });
        if let Some(first) = self.written(thread, &memory, &[]) {
            match self.doubt_about(thread, memory.clone(), |s, told| s.written(thread, &memory, told)) {
                Doubt::Over => return false,
                Doubt::Excused => notes::add(&mut self.lent.notes.dropped, site),
                Doubt::Unordered(holders)
                    if self.frees.counts.may_tell(&self.heap.arenas, &holders, &first) =>
                {
                    notes::add(&mut self.lent.notes.dropped, site);
                }
                Doubt::Unordered(_) => {
                    let kind = Kind::Race { accesses: [first, write_at(point)], object: kind.to_string() };
                    self.search.execution.fail(Violation { kind, point });
                    return false;
                }
            }
        }
        self.lent.end(&memory);
        true
    }

    /// A write through a pointer to a part of memory that a thread does not know of.
    fn written(&mut self, thread: ThreadId, memory: &Range<usize>, told: &[u32]) -> Option<Access> {
        let Session { lent, search, .. } = self;
        lent.unknown(memory, thread, search.execution.view(thread), told).map(|(.., access)| access)
    }

    /// What an announced access to an object races with that was done through a pointer. `Err`: the run has ended.
    pub(crate) fn against_lent(
        &mut self,
        thread: ThreadId,
        object: &Object<'_>,
        site: Site,
    ) -> Result<Option<Access>, RunIsOver> {
        let Some(index) = self.lent.of(object) else { return Ok(None) };
        let start = self.lent.pieces[index].start;
        let memory = start..start + 1;
        let Some(first) = self.written(thread, &memory, &[]) else { return Ok(None) };
        match self.doubt_about(thread, memory.clone(), |s, told| s.written(thread, &memory, told)) {
            Doubt::Over => Err(RunIsOver),
            Doubt::Excused => {
                notes::add(&mut self.lent.notes.dropped, site);
                Ok(None)
            }
            Doubt::Unordered(_) => Ok(Some(first)),
        }
    }

    /// Whether an address is in memory that threads of this run allocate from.
    fn is_of_run(&self, address: usize) -> bool {
        let mut arenas = self.heap.arenas.iter().chain([&self.heap.common]).flatten();
        arena::is_ours(address) && arenas.any(|arena| arena.contains(address))
    }

    /// Whether an address is in a block that has not been freed.
    fn is_live(&self, address: usize) -> bool {
        let arena = self.heap.arenas.iter().flatten().find(|arena| arena.contains(address));
        let found = arena.and_then(|arena| Some(arena.notes()[arena.find(address)?.0]));
        found.is_none_or(|note| note.freed().is_none())
    }
}

/// Leaves out tags, which have or had a stamp of this run.
fn mask_tags(piece: &mut Piece, stamps: [u64; 2]) {
    const WORD: usize = size_of::<u64>();
    let now = piece.now();
    let first = piece.start.next_multiple_of(WORD) - piece.start;
    for at in (first..(now.len() + 1).saturating_sub(WORD)).step_by(WORD) {
        let word = |bytes: &[u8]| bytes[at..at + WORD].try_into().map(u64::from_ne_bytes);
        if [word(now), word(piece.bytes.seen())].iter().flatten().any(|word| stamps.contains(word)) {
            piece.mask(piece.start + at, size_of::<Tag>());
        }
    }
}
