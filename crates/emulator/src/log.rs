//! The bytes that a piece has touched so far, by page.
//!
//! It is asked at every access, so an access to bytes that are known costs one lookup and two masks. A
//! page is looked at with care when it is first touched, and again when it is first written: the code
//! may use a bad pointer. What was found is believed until the piece ends.

use std::ops::Range;

use crate::block::Block;
use crate::obstacle::Obstacle;
use crate::probe::Probe;

/// The size of a page.
pub(crate) const PAGE: usize = 4096;
/// How many pages a piece may touch.
const PAGES: usize = 4096;
/// Slots of the table from addresses to pages; a power of two.
const SLOTS: usize = 4 * PAGES;

/// How many pages of the last piece are kept in mind.
const LAST: usize = Probe::PAGES;

/// A page of which bytes were touched.
#[repr(C)]
struct Page {
    /// The address of its first byte.
    address: usize,
    /// Whether it is known that it may be written.
    writable: bool,
    /// A bit for each byte that was touched.
    touched: [u64; PAGE / 64],
    /// A bit for each byte that was written.
    written: [u64; PAGE / 64],
    /// A bit for each byte that holds nothing: see [`Log::undefine`].
    undefined: [u64; PAGE / 64],
    /// What the touched bytes held when the piece began.
    bytes: [u8; PAGE],
}

/// The bytes that a piece has touched so far.
pub(crate) struct Log {
    /// `PAGES` times `Page`, of which `len` are in use. Then the table: for each slot the number of a
    /// page, plus one, in 16 bits.
    block: Block,
    len: usize,
    /// Memory of the emulator: code that uses it has a bad pointer.
    own: Range<usize>,
    probe: Probe,
    /// The first pages that the last piece has touched: this one is likely to touch the same, so it is
    /// asked about all of them at once.
    last: [usize; LAST],
    last_len: usize,
    /// How many of them, from the first, may be read; None if that was not asked yet.
    readable: Option<usize>,
}

impl Log {
    /// An empty log; None if there is no memory for it.
    pub(crate) fn new(own: Range<usize>) -> Option<Log> {
        let block = Block::new(PAGES * size_of::<Page>() + SLOTS * 2, false)?;
        let probe = Probe::new();
        Some(Log { block, len: 0, own, probe, last: [0; LAST], last_len: 0, readable: None })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        if self.len > 0 {
            self.last_len = self.len.min(LAST);
            for number in 0..self.last_len {
                self.last[number] = self.page(number).address;
            }
        }
        // Backwards, so that each is found past those that were there before it.
        for number in (0..self.len).rev() {
            let page = self.page_mut(number);
            page.touched = [0; PAGE / 64];
            page.written = [0; PAGE / 64];
            page.undefined = [0; PAGE / 64];
            let mut slot = slot(page.address);
            while usize::from(self.table()[slot]) != number + 1 {
                slot = (slot + 1) % SLOTS;
            }
            self.table()[slot] = 0;
        }
        self.len = 0;
        self.probe = Probe::new();
        self.readable = None;
    }

    /// Notes what bytes hold that are about to be read or written.
    #[inline]
    pub(crate) fn touch(&mut self, address: usize, size: usize, writes: bool) -> Result<(), Obstacle> {
        let offset = address % PAGE;
        if offset % 64 + size <= 64 && size > 0 {
            let mask = (u64::MAX >> (64 - size)) << (offset % 64);
            let number = self.find(address - offset)?;
            let probe = self.probe;
            return self.page_mut(number).touch_word(offset / 64, mask, writes, probe);
        }
        self.touch_long(address, size, writes)
    }

    #[cold]
    fn touch_long(&mut self, address: usize, size: usize, writes: bool) -> Result<(), Obstacle> {
        if address.checked_add(size).is_none() {
            return Err(Obstacle::Unmapped { address, writes });
        }
        let mut at = address;
        while at < address + size {
            let part = (address + size - at).min(64 - at % 64);
            self.touch(at, part, writes)?;
            at += part;
        }
        Ok(())
    }

    /// Says that bytes hold nothing until they are next written: they were part of a stack that has since been given
    /// back. To read them tells nothing, and they need not hold what they held when the piece ends.
    pub(crate) fn undefine(&mut self, from: usize, to: usize) -> Result<(), Obstacle> {
        let mut at = from;
        while at < to {
            let (offset, part) = (at % PAGE, (to - at).min(64 - at % 64));
            let number = self.find(at - offset)?;
            self.page_mut(number).undefined[offset / 64] |= (u64::MAX >> (64 - part)) << (offset % 64);
            at += part;
        }
        Ok(())
    }

    /// The number of the page at this address; it is made if there is none yet.
    #[inline]
    fn find(&mut self, address: usize) -> Result<usize, Obstacle> {
        let mut slot = slot(address);
        loop {
            match usize::from(self.table()[slot]) {
                0 => break,
                number if self.page(number - 1).address == address => return Ok(number - 1),
                _ => slot = (slot + 1) % SLOTS,
            }
        }
        self.add(address, slot)
    }

    #[cold]
    fn add(&mut self, address: usize, slot: usize) -> Result<usize, Obstacle> {
        let own = self.own.contains(&address) || self.block.addresses().contains(&address);
        if own || !self.is_readable(address) {
            return Err(Obstacle::Unmapped { address, writes: false });
        }
        if self.len == PAGES {
            return Err(Obstacle::TooMuchMemory);
        }
        let number = self.len;
        let page = self.page_mut(number);
        page.address = address;
        page.writable = false;
        self.table()[slot] = u16::try_from(number + 1).expect("there are fewer pages");
        self.len += 1;
        Ok(number)
    }

    fn is_readable(&mut self, address: usize) -> bool {
        let last = &self.last[..self.last_len];
        let readable = *self.readable.get_or_insert_with(|| self.probe.count_readable(last));
        last[..readable].contains(&address) || self.probe.readable(address)
    }

    fn page(&self, number: usize) -> &Page {
        debug_assert!(number < PAGES);
        // SAFETY: the block begins with `PAGES` pages, zeroed at first, which is a valid page; the
        // number is less, since it is that of a page in use, or the one after it when there is room.
        unsafe { &*self.block.start().cast::<Page>().add(number) }
    }

    fn page_mut(&mut self, number: usize) -> &mut Page {
        debug_assert!(number < PAGES);
        // SAFETY: as in `page`; and the log is borrowed for as long.
        unsafe { &mut *self.block.start().cast::<Page>().add(number) }
    }

    fn table(&mut self) -> &mut [u16] {
        // SAFETY: the table is behind the pages, aligned since a page's size is a multiple of eight, and
        // the log is borrowed for as long.
        unsafe {
            let start = self.block.start().add(PAGES * size_of::<Page>());
            std::slice::from_raw_parts_mut(start.cast::<u16>(), SLOTS)
        }
    }

    /// The bytes that were touched, as runs that lie in one page and were all written or all not.
    /// `defined`: without those that hold nothing.
    pub(crate) fn runs(&self, defined: bool) -> impl Iterator<Item = (usize, &[u8], bool)> + Clone {
        (0..self.len).flat_map(move |number| {
            let page = self.page(number);
            let mut at = 0;
            std::iter::from_fn(move || {
                let (from, to, written) = page.run(at, defined)?;
                at = to;
                Some((page.address + from, &page.bytes[from..to], written))
            })
        })
    }
}

/// Where the search for a page begins.
fn slot(address: usize) -> usize {
    (((address / PAGE) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.ilog2())) as usize
}

impl Page {
    #[inline]
    fn touch_word(&mut self, word: usize, mask: u64, writes: bool, probe: Probe) -> Result<(), Obstacle> {
        if writes && !self.writable {
            self.make_writable(word * 64 + mask.trailing_zeros() as usize, probe)?;
        }
        let known = if writes { 0 } else { self.undefined[word] };
        let new = mask & !self.touched[word] & !known;
        if new != 0 {
            self.note(word, new);
        }
        if writes {
            self.written[word] |= mask;
            self.undefined[word] &= !mask;
        }
        Ok(())
    }

    fn note(&mut self, word: usize, mut new: u64) {
        self.touched[word] |= new;
        while new != 0 {
            let at = word * 64 + new.trailing_zeros() as usize;
            new &= new - 1;
            // SAFETY: the page was found readable.
            self.bytes[at] = unsafe { ((self.address + at) as *const u8).read_volatile() };
        }
    }

    /// Asks whether the page may be written, by writing to a byte of it what it holds. It is one that the
    /// piece is about to write: others may be in use by other threads.
    #[cold]
    fn make_writable(&mut self, at: usize, probe: Probe) -> Result<(), Obstacle> {
        let address = self.address + at;
        // SAFETY: the page was found readable; and nobody else uses what the piece writes.
        if !unsafe { probe.writable(address) } {
            return Err(Obstacle::Unmapped { address, writes: true });
        }
        self.writable = true;
        Ok(())
    }

    /// The first run of touched bytes at or after a place, and whether they were written.
    fn run(&self, at: usize, defined: bool) -> Option<(usize, usize, bool)> {
        let bit = |map: &[u64; PAGE / 64], at: usize| map[at / 64] >> (at % 64) & 1 == 1;
        let counts = |at: usize| bit(&self.touched, at) && !(defined && bit(&self.undefined, at));
        let mut from = at;
        while from < PAGE && !counts(from) {
            from = if self.touched[from / 64] >> (from % 64) == 0 { (from / 64 + 1) * 64 } else { from + 1 };
        }
        if from >= PAGE {
            return None;
        }
        let written = bit(&self.written, from);
        let mut to = from + 1;
        while to < PAGE && counts(to) && bit(&self.written, to) == written {
            to += 1;
        }
        Some((from, to, written))
    }
}
