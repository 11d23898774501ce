//! Stacks of fibers, and of signal handlers. They are mapped several at a time, since a short check spends much of its
//! time on system calls, and kept for the next check.

use std::io;
use std::sync::{Mutex, MutexGuard};

use corosensei::stack::{Stack, StackPointer};
use unpick_core::op::ThreadId;

use crate::arena;

/// Bytes below a stack that must not be used. More than a page: a function may have large frames.
pub(crate) const GUARD: usize = 64 * 1024;
/// Bytes of stack for a signal handler. What std gives every thread is enough for a message only.
pub(crate) const HANDLER: usize = 256 * 1024;
/// How many stacks are mapped at a time.
const AT_ONCE: usize = 4;
/// How many stacks are kept.
const POOLED: usize = 64;
/// By how much the tops of stacks differ at most.
const SHIFTS: usize = 4096;

static POOL: Mutex<Pool> =
    Mutex::new(Pool { stacks: Vec::new(), unguarded: Vec::new(), handlers: Vec::new() });

/// Stacks that no check uses now.
struct Pool {
    stacks: Vec<Mapped>,
    /// Those that were never used.
    unguarded: Vec<Mapped>,
    /// Those of signal handlers. There are never more than there were workers at a time.
    handlers: Vec<usize>,
}

/// A mapping with room for a stack of some size, and its guard.
struct Mapped {
    start: usize,
    size: usize,
}

impl Mapped {
    /// All bytes of the mapping.
    fn bytes(size: usize) -> usize {
        (GUARD + size + SHIFTS).next_multiple_of(4096)
    }

    fn protect(&self) -> io::Result<()> {
        // SAFETY: the range is the lowest part of our own mapping, which nobody uses yet.
        let result = unsafe { libc::mprotect(self.start as *mut libc::c_void, GUARD, libc::PROT_NONE) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody uses any more.
        unsafe { libc::munmap(self.start as *mut libc::c_void, Mapped::bytes(self.size)) };
    }
}

impl Pool {
    fn lock() -> MutexGuard<'static, Pool> {
        POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Maps some stacks of a size, and one for a signal handler.
    fn grow(&mut self, size: usize) -> io::Result<()> {
        let each = Mapped::bytes(size);
        let start = arena::map(0, HANDLER + AT_ONCE * each).ok_or_else(io::Error::last_os_error)?;
        self.handlers.push(start);
        let first = start + HANDLER;
        self.unguarded.extend((0..AT_ONCE).rev().map(|index| Mapped { start: first + index * each, size }));
        Ok(())
    }

    fn take(&mut self, size: usize) -> io::Result<Mapped> {
        let fits = |mapped: &Mapped| mapped.size == size;
        if let Some(index) = self.stacks.iter().rposition(fits) {
            return Ok(self.stacks.swap_remove(index));
        }
        if !self.unguarded.iter().any(fits) {
            self.grow(size)?;
        }
        let index = self.unguarded.iter().rposition(fits).expect("the pool has just grown");
        let mapped = self.unguarded.remove(index);
        mapped.protect()?;
        Ok(mapped)
    }
}

/// A stack for a signal handler, of [`HANDLER`] bytes, for a worker whose fibers have stacks of this size.
pub(crate) fn take_handler(size: usize) -> Option<usize> {
    let mut pool = Pool::lock();
    if pool.handlers.is_empty() {
        pool.grow(size).ok()?;
    }
    pool.handlers.pop()
}

/// Keeps the stack of a signal handler for the next worker.
pub(crate) fn give_handler_back(stack: usize) {
    Pool::lock().handlers.push(stack);
}

/// A stack of a fiber. It begins a little below its end, by an amount that differs from fiber to fiber: used from a
/// page boundary, all stacks would compete for the same few lines of the processor's cache.
pub(crate) struct FiberStack {
    mapped: Mapped,
    base: StackPointer,
    limit: StackPointer,
}

impl FiberStack {
    /// A stack of this size for a thread.
    pub(crate) fn take(thread: ThreadId, size: usize) -> io::Result<FiberStack> {
        let mapped = Pool::lock().take(size)?;
        let end = mapped.start + Mapped::bytes(size);
        let pointer = |address| StackPointer::new(address).ok_or(io::ErrorKind::OutOfMemory);
        let base = pointer(end - thread.index() * 13 % 64 * 64)?;
        let limit = pointer(mapped.start)?;
        Ok(FiberStack { mapped, base, limit })
    }

    /// Keeps the stack for the next check.
    pub(crate) fn give_back(self) {
        let mut pool = Pool::lock();
        if pool.stacks.len() < POOLED {
            pool.stacks.push(self.mapped);
        }
    }
}

// SAFETY: the range from `limit` to `base` is mapped for this stack alone, its base is a multiple of 64, and what
// is below it cannot be used.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}
