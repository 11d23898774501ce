//! The memory of the program as it is before its constructors run, and how it gets there again.
//!
//! Small pieces are copied. Large ones are put into a file in memory, which is then mapped in their place: what the
//! program writes goes to copies of the pages, and these are let go.

use unpick_core::error::Error;

use crate::fiber::Fiber;
use crate::heap;
use crate::modules::Modules;
use crate::sys;

/// From so many bytes on, memory is mapped.
const LARGE: usize = 1 << 19;

/// The size of a page.
const PAGE: usize = 4096;

/// A piece of memory, and what it held.
#[derive(Debug)]
enum Piece {
    /// A copy.
    Copied { at: usize, held: Vec<u8> },
    /// Pages that a file is mapped to.
    Mapped { at: usize, size: usize },
}

impl Piece {
    fn copied((from, to): (usize, usize)) -> Piece {
        // SAFETY: memory of the program, which does not run.
        let held = unsafe { std::slice::from_raw_parts(from as *const u8, to - from) }.to_vec();
        Piece::Copied { at: from, held }
    }

    /// The pieces of a range.
    fn of((from, to): (usize, usize)) -> Result<Vec<Piece>, Error> {
        let (first, last) = (from.next_multiple_of(PAGE), to & !(PAGE - 1));
        if to - from < LARGE {
            return Ok(vec![Piece::copied((from, to))]);
        }
        map_over(first, last - first)?;
        let ends = [(from, first), (last, to)].into_iter().filter(|(from, to)| from < to);
        let mut pieces: Vec<Piece> = ends.map(Piece::copied).collect();
        pieces.push(Piece::Mapped { at: first, size: last - first });
        Ok(pieces)
    }

    /// Where it lies.
    fn range(&self) -> (usize, usize) {
        match *self {
            Piece::Copied { at, ref held } => (at, at + held.len()),
            Piece::Mapped { at, size } => (at, at + size),
        }
    }

    #[inline(always)]
    fn restore(&self) {
        match self {
            // SAFETY: as above; the memory is still there, since nothing is unloaded.
            Piece::Copied { at, held } => unsafe {
                std::ptr::copy_nonoverlapping(held.as_ptr(), *at as *mut u8, held.len());
            },
            Piece::Mapped { at, size } => {
                let arguments = [*at, *size, libc::MADV_DONTNEED as usize, 0, 0, 0];
                // SAFETY: pages that a file is mapped to; they hold what the file holds again.
                unsafe { sys::call(libc::SYS_madvise, arguments) };
            }
        }
    }
}

/// Puts what some pages hold into a file in memory, and maps it in their place.
fn map_over(at: usize, size: usize) -> Result<(), Error> {
    sys::map_file(at, size, size, libc::MAP_PRIVATE).map_err(|code| Error::Machine {
        problem: format!("no room for a copy of {size} bytes of the program's static memory: error {code}"),
    })
}

/// Where the arguments and the environment of the program lie, which it may write to.
fn arguments() -> Option<(usize, usize)> {
    // SAFETY: set before the program runs, and not changed.
    let [_, arguments, environment] = unsafe { crate::threads::ARGUMENTS };
    let strings = |mut list: usize| {
        let mut end = list;
        // SAFETY: a list of pointers to strings, which a null pointer ends.
        unsafe {
            while let text @ 1.. = *(list as *const usize) {
                end = end.max(text + libc::strlen(text as *const _) + 1);
                list += 8;
            }
        }
        end.max(list + 8)
    };
    (arguments != 0).then(|| (arguments, strings(arguments).max(strings(environment))))
}

/// The memory of the program at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Static memory, and the heap.
    common: Vec<Piece>,
    /// Thread-local storage, by thread.
    storage: Vec<Vec<Piece>>,
}

impl Snapshot {
    /// The memory of the program now.
    ///
    /// # Errors
    ///
    /// When the machine has no room for it.
    pub(crate) fn take(modules: &Modules, fibers: impl Iterator<Item = Fiber>) -> Result<Snapshot, Error> {
        heap::keep();
        let of_program = || modules.list.iter().filter(|module| module.is_of_program);
        let parts = of_program().flat_map(|module| module.writable.iter().copied());
        let mut common = Vec::new();
        for part in parts.chain(heap::kept()).chain(arguments()) {
            common.extend(Piece::of(part)?);
        }
        let blocks = |fiber: Fiber| {
            let place = |(offset, size): (isize, usize)| {
                let from = fiber.storage.wrapping_add_signed(offset);
                Piece::copied((from, from + size))
            };
            of_program().filter_map(|module| module.storage).map(place).collect()
        };
        Ok(Snapshot { common, storage: fibers.map(blocks).collect() })
    }

    /// Where the memory lies that is common to all threads, and that of the main thread.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.common.iter().chain(self.storage.iter().take(1).flatten()).map(Piece::range)
    }

    /// Brings the memory back that is common to all threads, and that of the threads that have run.
    pub(crate) fn restore(&self, ran: impl Iterator<Item = bool>) {
        self.common.iter().for_each(Piece::restore);
        for (pieces, _) in self.storage.iter().zip(ran).filter(|(_, ran)| *ran) {
            pieces.iter().for_each(Piece::restore);
        }
        heap::restore();
    }
}
