//! Memory that the program maps by itself: in each execution at the same addresses, and given back at its end.

use std::ops::Range;

use crate::entry::entries;
use crate::ops;
use crate::sys;

entries! {
    mmap => map;
    mmap64 => map;
    munmap => unmap;
}

/// Where such memory lies, behind the heap.
const BASE: usize = 0x3000_0000_0000;
/// Address space of a thread.
const SPACE: usize = 1 << 36;
/// Threads that have some.
const MOST: usize = 256;
/// Bytes between mappings, so that one that is too small is noticed.
const GAP: usize = 1 << 16;

/// What the program has mapped in this execution.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    regions: Vec<Range<usize>>,
    /// How much of its address space each thread has used.
    used: Vec<usize>,
}

impl Mappings {
    /// Gives all of it back.
    pub(crate) fn restore(&mut self) {
        self.used.clear();
        for region in self.regions.drain(..) {
            // SAFETY: memory of the program, which does not run.
            unsafe { sys::call(libc::SYS_munmap, [region.start, region.len(), 0, 0, 0, 0]) };
        }
    }

    /// Whether the address is in what the program has mapped.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.regions.iter().any(|region| region.contains(&address))
    }

    /// A place for so many bytes of a thread: it depends on nothing but what the thread has mapped before.
    fn place(&mut self, thread: usize, size: usize) -> Option<usize> {
        if self.used.len() <= thread {
            self.used.resize(thread + 1, 0);
        }
        let used = self.used[thread];
        let next = used.checked_add(size)?.checked_next_multiple_of(GAP)?.checked_add(GAP)?;
        if thread >= MOST || next > SPACE {
            return None;
        }
        self.used[thread] = next;
        Some(BASE + thread * SPACE + used)
    }

    /// Notes that these bytes are the program's no more.
    fn forget(&mut self, gone: &Range<usize>) {
        let parts = |region: Range<usize>| {
            [region.start..region.end.min(gone.start), region.start.max(gone.end)..region.end]
        };
        let left = self.regions.drain(..).flat_map(parts).filter(|part| !part.is_empty());
        let left: Vec<_> = left.collect();
        self.regions = left;
    }
}

/// What the C library would say of the result of a system call.
fn told(result: isize) -> usize {
    if (-4095..0).contains(&result) {
        // SAFETY: the place of the caller's error number.
        unsafe { *libc::__errno_location() = -result as i32 };
        return usize::MAX;
    }
    result as usize
}

unsafe extern "C" fn map(
    address: usize,
    size: usize,
    protection: i32,
    flags: i32,
    file: i32,
    offset: usize,
) -> usize {
    let make = |address: usize, flags: i32| {
        let arguments = [address, size, protection as usize, flags as usize, file as isize as usize, offset];
        // SAFETY: the caller's arguments.
        unsafe { sys::call(libc::SYS_mmap, arguments) }
    };
    let Some(caller) = ops::enter() else { return told(make(address, flags)) };
    let fixed = libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE;
    let free = flags & (fixed | libc::MAP_32BIT) == 0;
    let thread = caller.thread.index();
    let mappings = &mut caller.session().mappings;
    let place = if free && address == 0 { mappings.place(thread, size) } else { None };
    let result = match place {
        Some(place) => make(place, flags | libc::MAP_FIXED_NOREPLACE),
        None => make(address, flags),
    };
    // What replaces other memory of the program is not taken back.
    if result > 0 && flags & libc::MAP_FIXED == 0 {
        let start = result as usize;
        mappings.regions.push(start..start + size.next_multiple_of(4096));
    }
    caller.leave();
    told(result)
}

unsafe extern "C" fn unmap(address: usize, size: usize) -> i32 {
    let caller = ops::enter();
    // SAFETY: the caller's arguments.
    let result = unsafe { sys::call(libc::SYS_munmap, [address, size, 0, 0, 0, 0]) };
    if let Some(caller) = caller {
        if result == 0 {
            let gone = address..address.saturating_add(size).next_multiple_of(4096);
            caller.session().mappings.forget(&gone);
        }
        caller.leave();
    }
    told(result) as i32
}
