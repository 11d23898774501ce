//! What a piece has touched: kept as runs of bytes, so that it is quickly compared with memory.

use std::fmt;
use std::ops::Range;

use crate::block::Block;
use crate::log::{Log, PAGE};
use crate::probe::Probe;

/// The bytes that a piece has touched, with what they held when it began.
///
/// Its memory does not come from the allocator: it may be kept, cloned and dropped while the heap is in
/// a state that [`Footprint::restore`] takes back.
#[derive(Clone, Debug, Default)]
pub struct Footprint(Inner);

impl Footprint {
    pub(crate) fn of(log: Log) -> Footprint {
        Footprint(Inner::Growing(Box::new(log)))
    }

    pub(crate) fn log_mut(&mut self) -> Option<&mut Log> {
        match &mut self.0 {
            Inner::Growing(log) => Some(log),
            Inner::Runs(_) => None,
        }
    }

    /// Puts back what was written.
    ///
    /// # Safety
    /// The memory is still mapped, and nobody else uses it now; what it held fits what is left of the
    /// program's state, which is so at the end of the piece.
    pub unsafe fn restore(&self) {
        for (address, bytes, written) in self.runs() {
            if written {
                // SAFETY: the piece could write there; the rest is promised by the caller.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) }
            }
        }
    }

    /// Leaves these addresses out.
    #[must_use]
    pub fn without(self, range: Range<usize>) -> Footprint {
        if !self.touches(range.clone()) {
            return Footprint(Inner::Runs(self.0.into_runs()));
        }
        let parts = self.runs().flat_map(|(address, bytes, written)| {
            let end = address + bytes.len();
            let before = range.start.clamp(address, end) - address;
            let after = range.end.clamp(address + before, end) - address;
            [(address, &bytes[..before], written), (address + after, &bytes[after..], written)]
        });
        Footprint(Inner::Runs(Runs::new(parts.filter(|(_, bytes, _)| !bytes.is_empty()))))
    }

    /// Whether every byte holds now what it held when the piece began.
    ///
    /// # Safety
    /// The memory is mapped, and nobody else writes it now.
    #[must_use]
    pub unsafe fn holds(&self) -> bool {
        // SAFETY: promised by the caller.
        let holds = |(address, bytes, _)| unsafe { same(address as *const u8, bytes) };
        // It is asked very often, so the list of runs is not looked for each time.
        match &self.0 {
            Inner::Runs(runs) => runs.iter().all(holds),
            Inner::Growing(log) => log.runs(false).all(holds),
        }
    }

    /// Whether all of the memory is still there; `known`: pages that are known to be, to which others are added. To find out
    /// takes system calls.
    #[must_use]
    pub fn is_mapped(&self, known: &mut Vec<usize>) -> bool {
        let ends = |(address, bytes, _): (usize, &[u8], bool)| [address, address + bytes.len() - 1];
        self.runs().flat_map(ends).all(|address| {
            let page = address - address % PAGE;
            known.contains(&page) || {
                let mapped = Probe::new().readable(page);
                known.extend(mapped.then_some(page));
                mapped
            }
        })
    }

    /// Those runs of bytes of which this is so of the first, and the others.
    #[must_use]
    pub fn split(&self, first: impl Fn(usize) -> bool) -> (Footprint, Footprint) {
        let part = |wanted: bool| {
            let runs = self.runs().filter(|&(address, _, _)| first(address) == wanted);
            Footprint(Inner::Runs(Runs::new(runs)))
        };
        (part(true), part(false))
    }

    /// The same bytes, with what they hold now.
    ///
    /// # Safety
    /// The memory is mapped, and nobody else writes it now.
    #[must_use]
    pub unsafe fn now(&self) -> Footprint {
        let runs = self.runs().map(|(address, bytes, written)| {
            // SAFETY: promised by the caller.
            let now = unsafe { std::slice::from_raw_parts(address as *const u8, bytes.len()) };
            (address, now, written)
        });
        Footprint(Inner::Runs(Runs::new(runs)))
    }

    /// The bytes that hold something else in the other footprint; `None`: they are not the same bytes.
    #[must_use]
    pub fn differences(&self, other: &Footprint) -> Option<Vec<usize>> {
        let (mut ranges, mut others) = (self.ranges(), other.ranges());
        let mut differences = Vec::new();
        loop {
            match (ranges.next(), others.next()) {
                (None, None) => return Some(differences),
                (Some((address, bytes)), Some((other, theirs)))
                    if (address, bytes.len()) == (other, theirs.len()) =>
                {
                    let differ =
                        bytes.iter().zip(theirs).enumerate().filter(|(_, (own, their))| own != their);
                    differences.extend(differ.map(|(at, _)| address + at));
                }
                _ => return None,
            }
        }
    }

    /// The first byte, if any, that was written and does not hold what it held.
    ///
    /// # Safety
    /// The memory is mapped, and nobody else writes it now.
    #[must_use]
    pub unsafe fn first_change(&self) -> Option<usize> {
        let changed = self.runs().filter(|&(_, _, written)| written).filter_map(|(address, bytes, _)| {
            bytes.iter().enumerate().map(|(at, &byte)| (address + at, byte)).find_map(|(at, byte)| {
                // SAFETY: promised by the caller.
                (unsafe { (at as *const u8).read_volatile() } != byte).then_some(at)
            })
        });
        changed.min()
    }

    /// The runs of bytes: where they are, and what they held when the piece began. Neighbours may be in
    /// several runs.
    pub fn ranges(&self) -> impl Iterator<Item = (usize, &[u8])> + '_ {
        self.runs().map(|(address, bytes, _)| (address, bytes))
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs().map(|(_, bytes, _)| bytes.len()).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs().next().is_none()
    }

    /// Whether any of these bytes was touched.
    #[must_use]
    pub fn touches(&self, range: Range<usize>) -> bool {
        self.runs().any(|(address, bytes, _)| address < range.end && range.start < address + bytes.len())
    }

    /// Whether any of these bytes was written.
    #[must_use]
    pub fn writes_to(&self, range: Range<usize>) -> bool {
        self.runs().any(|(address, bytes, written)| {
            written && address < range.end && range.start < address + bytes.len()
        })
    }

    fn runs(&self) -> impl Iterator<Item = (usize, &[u8], bool)> + Clone {
        let (log, runs) = match &self.0 {
            Inner::Growing(log) => (Some(&**log), None),
            Inner::Runs(runs) => (None, Some(runs)),
        };
        log.into_iter().flat_map(|log| log.runs(false)).chain(runs.into_iter().flat_map(Runs::iter))
    }

    /// The bytes that held something at the end of the piece, in the compact form.
    pub(crate) fn defined(&self) -> Footprint {
        match &self.0 {
            Inner::Growing(log) => Footprint(Inner::Runs(Runs::new(log.runs(true)))),
            Inner::Runs(_) => self.clone(),
        }
    }

    /// A copy of what is there now, in the compact form.
    pub(crate) fn compact(&self) -> Footprint {
        Footprint(Inner::Runs(Runs::new(self.runs())))
    }
}

/// # Safety
/// The bytes at `memory` may be read.
#[inline]
unsafe fn same(memory: *const u8, bytes: &[u8]) -> bool {
    let len = bytes.len();
    if len < 8 {
        // SAFETY: promised by the caller.
        return (0..len).all(|at| unsafe { memory.add(at).read() } == bytes[at]);
    }
    if len <= 16 {
        // SAFETY: both hold at least eight bytes; the two words may overlap.
        return unsafe {
            let word = |start: *const u8, at: usize| start.add(at).cast::<u64>().read_unaligned();
            word(memory, 0) == word(bytes.as_ptr(), 0)
                && word(memory, len - 8) == word(bytes.as_ptr(), len - 8)
        };
    }
    // SAFETY: promised by the caller; nobody writes the bytes while they are compared.
    unsafe { std::slice::from_raw_parts(memory, len) == bytes }
}

enum Inner {
    /// While the piece runs.
    Growing(Box<Log>),
    Runs(Runs),
}

impl Inner {
    fn into_runs(self) -> Runs {
        match self {
            Inner::Growing(log) => Runs::new(log.runs(false)),
            Inner::Runs(runs) => runs,
        }
    }
}

impl Default for Inner {
    fn default() -> Inner {
        Inner::Runs(Runs { block: None, runs: 0 })
    }
}

impl Clone for Inner {
    fn clone(&self) -> Inner {
        match self {
            Inner::Growing(log) => Inner::Runs(Runs::new(log.runs(false))),
            Inner::Runs(runs) => Inner::Runs(Runs::new(runs.iter())),
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        let mut show = |(address, bytes, written): (usize, &[u8], bool)| {
            let kind = if written { "written" } else { "read" };
            list.entry(&format_args!("{address:#x} {kind} {bytes:02x?}"));
        };
        match self {
            Inner::Growing(log) => log.runs(false).for_each(&mut show),
            Inner::Runs(runs) => runs.iter().for_each(&mut show),
        }
        list.finish()
    }
}

/// Runs of bytes: first the list of runs, then all bytes.
struct Runs {
    /// None if there are no runs.
    block: Option<Block>,
    runs: usize,
}

#[derive(Clone, Copy)]
struct Run {
    address: usize,
    /// Where its bytes are in the block.
    offset: u32,
    /// Twice the number of bytes, plus one if they were written.
    len_written: u32,
}

impl Runs {
    /// Copies these; neighbours of the same kind that come one after the other are merged.
    fn new<'a>(runs: impl Iterator<Item = (usize, &'a [u8], bool)> + Clone) -> Runs {
        let (mut number, mut size, mut end) = (0, 0, None);
        for (address, bytes, written) in runs.clone() {
            number += usize::from(end != Some((address, written)));
            end = Some((address + bytes.len(), written));
            size += bytes.len();
        }
        if number == 0 {
            return Runs { block: None, runs: 0 };
        }
        let head = number * size_of::<Run>();
        let block = Block::any(head + size).expect("memory for a footprint");
        let (mut offset, mut next, mut end) = (head, 0, None);
        let list = block.start().cast::<Run>();
        for (address, bytes, written) in runs {
            let len = u32::try_from(bytes.len()).expect("a run is shorter than a page");
            // SAFETY: the block has room for `number` runs and, behind them, `size` bytes, which were
            // counted in the same way. It is aligned to a page.
            unsafe {
                if end == Some((address, written)) {
                    (*list.add(next - 1)).len_written += len * 2;
                } else {
                    let start = u32::try_from(offset).expect("a piece touches less than 4 GB");
                    list.add(next).write(Run {
                        address,
                        offset: start,
                        len_written: len * 2 + u32::from(written),
                    });
                    next += 1;
                }
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.start().add(offset), bytes.len());
            }
            end = Some((address + bytes.len(), written));
            offset += bytes.len();
        }
        debug_assert_eq!((next, offset), (number, head + size));
        Runs { block: Some(block), runs: number }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[u8], bool)> + Clone {
        let start =
            self.block.as_ref().map_or(std::ptr::NonNull::<Run>::dangling().as_ptr().cast(), Block::start);
        // SAFETY: `new` has put `runs` runs at the start of the block; without a block there are none.
        let list = unsafe { std::slice::from_raw_parts(start.cast_const().cast::<Run>(), self.runs) };
        list.iter().map(move |run| {
            let len = (run.len_written / 2) as usize;
            // SAFETY: `new` has put the bytes there.
            let bytes = unsafe { std::slice::from_raw_parts(start.add(run.offset as usize), len) };
            (run.address, bytes, run.len_written % 2 == 1)
        })
    }
}
