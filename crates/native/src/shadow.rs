//! What is remembered of accesses to the program's memory, byte by byte.
//!
//! Memory is divided into cells of eight bytes. Each has a list of records: who has accessed which of its bytes,
//! and when. A new access is compared with those of other threads that it conflicts with. An access is known to
//! whoever knows the event of its thread that comes next, or that it is; see `unpick_checkers::race`.
//!
//! The first record of a cell on the heap says who has allocated it: that counts as a write. Memory that was freed,
//! or lies outside of blocks, has a record that nobody may meet.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::execution::Execution;
use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::{Access, Point};

use crate::heap;

/// An access, as it is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) point: Point,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
    /// Whether a value is read as a whole, and not bytes that are copied.
    pub(crate) value: bool,
}

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// An access.
    Access,
    /// The allocation of a block.
    Birth,
    /// The end of a block.
    Freed,
    /// No block.
    Outside,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    thread: ThreadId,
    index: u32,
    site: Site,
    /// The bytes of the cell.
    bytes: u8,
    writes: bool,
    atomic: bool,
    what: What,
}

impl Record {
    fn point(&self) -> Point {
        Point { thread: self.thread, index: self.index, site: self.site }
    }
}

/// What stands against an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Conflict {
    /// An access that nothing orders before it.
    Race(Access),
    /// An allocation that nothing orders before it.
    Unborn(Point),
    /// The memory was freed there.
    Freed(Point),
    /// The memory belongs to no block.
    Outside,
    /// Nothing that was seen has been written there since it was allocated.
    Undefined,
}

/// Pairs of accesses whose conflict is known to the user.
type Passed<'a> = &'a [(Point, Point)];

/// Eight bytes.
#[derive(Debug, Default)]
struct Cell {
    /// The run that the records are of.
    run: u64,
    /// The bytes that something was written to, or that it does not matter for.
    written: u8,
    records: Vec<Record>,
}

const CELLS: usize = 512;

type Page = [Cell; CELLS];

/// A hash of addresses, and of numbers of pages.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte.into());
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    }
}

/// A map from addresses, or numbers of pages.
pub(crate) type AddressMap<V> = HashMap<usize, V, BuildHasherDefault<Mix>>;

/// The records of one execution.
#[derive(Default)]
pub(crate) struct Shadow {
    pages: Vec<Box<Page>>,
    numbers: AddressMap<u32>,
    /// Pages that were used lately: number of the page in memory, and here.
    recent: [(usize, u32); 32],
    run: u64,
}

impl Shadow {
    /// Forgets everything.
    pub(crate) fn begin(&mut self) {
        self.run += 1;
    }

    /// Whether two threads have accessed the same bytes in this run, as far as the records tell that are left.
    pub(crate) fn is_shared(&self) -> bool {
        let has_two = |cell: &Cell| {
            let mut accesses = cell.records.iter().filter(|record| record.what == What::Access);
            let first = accesses.next().map(|record| record.thread);
            accesses.any(|record| Some(record.thread) != first)
        };
        self.pages.iter().flat_map(|page| page.iter()).any(|cell| cell.run == self.run && has_two(cell))
    }

    #[inline(always)]
    fn page(&mut self, page: usize) -> u32 {
        let recent = self.recent[page % 32];
        if recent.0 == page && page != 0 { recent.1 } else { self.page_slowly(page) }
    }

    #[inline(never)]
    fn page_slowly(&mut self, page: usize) -> u32 {
        let pages = &mut self.pages;
        let number = *self.numbers.entry(page).or_insert_with(|| {
            let cells: Vec<Cell> = (0..CELLS).map(|_| Cell::default()).collect();
            let cells: Box<Page> = cells.try_into().expect("a page has so many cells");
            pages.push(cells);
            pages.len() as u32 - 1
        });
        self.recent[page % 32] = (page, number);
        number
    }

    /// The cell of an address, with the records of this run.
    #[inline(always)]
    fn cell(&mut self, address: usize) -> &mut Cell {
        let page = self.page(address >> 12);
        let run = self.run;
        let cell = &mut self.pages[page as usize][address >> 3 & (CELLS - 1)];
        if cell.run != run {
            cell.run = run;
            cell.written = u8::MAX;
            cell.records.clear();
            if heap::contains(address) {
                cell.be_born(address & !7);
            }
        }
        cell
    }

    /// Notes an access to `size` bytes at an address, and says what stands against it; `passed` does not.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        (address, size): (usize, usize),
        touch: Touch,
        execution: &mut Execution,
        passed: Passed<'_>,
    ) -> Option<Conflict> {
        let offset = address & 7;
        if offset + size <= 8 {
            let bytes = (((1u16 << size) - 1) as u8) << offset;
            return self.cell(address).access(bytes, &touch, execution, passed);
        }
        self.access_many((address, size), touch, execution, passed)
    }

    #[inline(never)]
    fn access_many(
        &mut self,
        (address, size): (usize, usize),
        touch: Touch,
        execution: &mut Execution,
        passed: Passed<'_>,
    ) -> Option<Conflict> {
        let end = address + size;
        let mut at = address;
        while at < end {
            let next = ((at & !7) + 8).min(end);
            let bytes = (((1u16 << (next - at)) - 1) as u8) << (at & 7);
            let conflict = self.cell(at).access(bytes, &touch, execution, passed);
            if conflict.is_some() {
                return conflict;
            }
            at = next;
        }
        None
    }

    /// Notes that a block is freed, and says what stands against it.
    pub(crate) fn free(
        &mut self,
        (address, size): (usize, usize),
        at: Point,
        execution: &mut Execution,
    ) -> Option<Conflict> {
        let touch = Touch { point: at, writes: true, atomic: false, value: false };
        let mut cell = address & !7;
        while cell < address + size {
            let page = cell >> 12;
            if !self.numbers.contains_key(&page) {
                // Nobody has looked at the page, so a cell of it will look at its block.
                cell = (page + 1) << 12;
                continue;
            }
            let number = self.page(page);
            let run = self.run;
            let found = &mut self.pages[number as usize][cell >> 3 & (CELLS - 1)];
            if found.run == run {
                // What lies behind the block is not freed: it would stand against this before any access does.
                let bytes = u8::MAX >> 8_usize.saturating_sub(address + size - cell);
                let conflict = found.access(bytes, &touch, execution, &[]);
                if let Some(Conflict::Race(_) | Conflict::Unborn(_)) = conflict {
                    return conflict;
                }
                found.records.clear();
                found.records.push(Record::new(u8::MAX, &touch, What::Freed));
            }
            cell += 8;
        }
        None
    }

    /// Forgets the records of a block, which has another owner now.
    pub(crate) fn forget(&mut self, address: usize, size: usize) {
        for cell in (address & !7..address + size).step_by(8) {
            self.cell(cell).run = 0;
        }
    }

    /// Whether nothing was written to these bytes. That nothing was seen is not enough, since libraries write unseen: what was
    /// there when the block was allocated must still be there, also in bytes around. If it is not, the bytes are
    /// taken for written.
    pub(crate) fn is_undefined(&mut self, address: usize, size: usize) -> bool {
        // Fewer bytes may be as they were by chance.
        const LEAST: u32 = 4;
        // SAFETY: bytes of a block, which the program is about to read.
        let is_filling = |at: usize| unsafe { *(at as *const u8) } == heap::filling(at);
        let mut undefined = true;
        for cell in (address & !7..address + size).step_by(8) {
            let written = self.cell(cell).written;
            let open = (0..8).filter(|at| written & 1 << at == 0);
            undefined &= written.count_zeros() >= LEAST && open.clone().all(|at| is_filling(cell + at));
            let read = (0..8).filter(|at| (address..address + size).contains(&(cell + at)));
            undefined &= read.clone().all(|at| written & 1 << at == 0);
        }
        if !undefined {
            for at in address..address + size {
                self.cell(at).written |= 1 << (at & 7);
            }
        }
        undefined
    }

    /// Whether all accesses to these bytes are known to a thread.
    pub(crate) fn are_known(
        &mut self,
        (address, size): (usize, usize),
        thread: ThreadId,
        execution: &mut Execution,
    ) -> bool {
        (address..address + size).all(|at| {
            let bytes = 1 << (at & 7);
            let records = &self.cell(at).records;
            let view = execution.view(thread);
            records
                .iter()
                .filter(|record| record.bytes & bytes != 0 && record.thread != thread)
                .all(|record| knows(view, EventId { thread: record.thread, index: record.index }))
        })
    }
}

impl Record {
    fn new(bytes: u8, touch: &Touch, what: What) -> Record {
        let Touch { point: Point { thread, index, site }, writes, atomic, .. } = *touch;
        Record { thread, index, site, bytes, writes, atomic, what }
    }
}

impl Cell {
    /// Looks what block the cell belongs to; `start` is its address.
    #[cold]
    fn be_born(&mut self, start: usize) {
        let touch = |thread, index, site| {
            let point = Point { thread, index, site };
            Touch { point, writes: true, atomic: false, value: false }
        };
        let nobody = touch(ThreadId::MAIN, 0, Site(0));
        let Some(found) = heap::find(start + 7) else {
            self.records.push(Record::new(u8::MAX, &nobody, What::Outside));
            return;
        };
        let block = found.block;
        let inside = (0..8).filter(|&at| (block.start..block.start + block.size).contains(&(start + at)));
        let inside = inside.fold(0u8, |bytes, at| bytes | 1 << at);
        if inside != u8::MAX {
            self.records.push(Record::new(!inside, &nobody, What::Outside));
        }
        if let Some(freed) = block.freed {
            let freed = touch(freed.thread, freed.index, freed.site);
            self.records.push(Record::new(inside, &freed, What::Freed));
        } else if let Some(thread) = found.thread
            && inside != 0
        {
            self.records.push(Record::new(inside, &touch(thread, block.birth, block.site), What::Birth));
            if block.undefined {
                self.written = !inside;
            }
        }
    }

    #[inline(always)]
    fn access(
        &mut self,
        bytes: u8,
        touch: &Touch,
        execution: &mut Execution,
        passed: Passed<'_>,
    ) -> Option<Conflict> {
        let thread = touch.point.thread;
        // The most common case: the same thread has done the same, and nobody anything since.
        if let Some(record) = self.records.last_mut()
            && record.thread == thread
            && record.bytes == bytes
            && record.what == What::Access
            && record.writes == touch.writes
            && record.atomic == touch.atomic
        {
            (record.index, record.site) = (touch.point.index, touch.point.site);
            return None;
        }
        self.access_slowly(bytes, touch, execution, passed)
    }

    #[inline(never)]
    fn access_slowly(
        &mut self,
        bytes: u8,
        touch: &Touch,
        execution: &mut Execution,
        passed: Passed<'_>,
    ) -> Option<Conflict> {
        let thread = touch.point.thread;
        for record in self.records.iter().filter(|record| record.bytes & bytes != 0) {
            match record.what {
                What::Outside => return Some(Conflict::Outside),
                What::Freed => return Some(Conflict::Freed(record.point())),
                What::Access | What::Birth => {}
            }
            let conflicts = record.writes || touch.writes;
            if record.thread == thread || !conflicts || (record.atomic && touch.atomic) {
                continue;
            }
            let event = EventId { thread: record.thread, index: record.index };
            if knows(execution.view(thread), event) || passed.contains(&(record.point(), touch.point)) {
                continue;
            }
            return Some(match record.what {
                What::Birth => Conflict::Unborn(record.point()),
                _ => {
                    let (point, writes, atomic) = (record.point(), record.writes, record.atomic);
                    Conflict::Race(Access { point, writes, atomic })
                }
            });
        }
        if touch.writes {
            self.written |= bytes;
        } else if touch.value && self.written & bytes == 0 {
            return Some(Conflict::Undefined);
        }
        // What everybody knows who knows of this access need not be remembered. A write knows of all before it.
        let plain = !touch.atomic;
        self.records.retain_mut(|record| {
            let same =
                record.thread == thread && (plain || record.atomic) && (touch.writes || !record.writes);
            if record.what == What::Access && (same || (touch.writes && plain)) {
                record.bytes &= !bytes;
            }
            record.bytes != 0
        });
        self.records.push(Record::new(bytes, touch, What::Access));
        None
    }
}
