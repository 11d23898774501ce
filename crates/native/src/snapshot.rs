//! The memory of the program as it is when `main` begins, and how it gets there again.

use crate::fiber::Fiber;
use crate::heap;
use crate::modules::Modules;

/// A piece of memory, and what it held.
#[derive(Debug)]
struct Piece {
    at: usize,
    held: Vec<u8>,
}

impl Piece {
    fn new((from, to): (usize, usize)) -> Piece {
        // SAFETY: memory of the program, which does not run.
        let held = unsafe { std::slice::from_raw_parts(from as *const u8, to - from) }.to_vec();
        Piece { at: from, held }
    }

    fn restore(&self) {
        // SAFETY: as above; the memory is still there, since nothing is unloaded.
        unsafe { std::ptr::copy_nonoverlapping(self.held.as_ptr(), self.at as *mut u8, self.held.len()) };
    }
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
    pub(crate) fn take(modules: &Modules, fibers: impl Iterator<Item = Fiber>) -> Snapshot {
        heap::keep();
        let of_program = || modules.list.iter().filter(|module| module.is_of_program);
        let parts = of_program().flat_map(|module| module.writable.iter().copied());
        let common = parts.chain(heap::kept()).map(Piece::new).collect();
        let blocks = |fiber: Fiber| {
            let place = |(offset, size): (isize, usize)| {
                let from = fiber.storage.wrapping_add_signed(offset);
                Piece::new((from, from + size))
            };
            of_program().filter_map(|module| module.storage).map(place).collect()
        };
        Snapshot { common, storage: fibers.map(blocks).collect() }
    }

    /// Where the memory lies that is common to all threads, and that of the main thread.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let pieces = self.common.iter().chain(self.storage.iter().take(1).flatten());
        pieces.map(|piece| (piece.at, piece.at + piece.held.len()))
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
