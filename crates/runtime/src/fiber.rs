//! Pooled coroutines: one per thread of the program, each on a stack of its own, each good for
//! any number of executions.

use std::sync::Mutex;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};
use unpick_core::error::Error;
use unpick_core::op::ThreadId;

use crate::session::Session;

pub(crate) type Routine = Coroutine<(), (), (), Shifted>;

/// A stack that begins a little below its end, by an amount that differs from fiber to fiber.
/// Stacks end at page boundaries; used from there, they would all compete for the same few lines
/// of the processor's cache.
pub(crate) struct Shifted {
    stack: DefaultStack,
    base: StackPointer,
    size: usize,
}

/// Stacks that no check uses now, with their sizes.
static POOL: Mutex<Vec<(usize, DefaultStack)>> = Mutex::new(Vec::new());
/// How many stacks are kept.
const POOLED: usize = 64;

impl Shifted {
    fn new(thread: ThreadId, size: usize) -> Result<Shifted, Error> {
        let stack = DefaultStack::new(size + 4096).map_err(|error| Error::Machine {
            problem: format!(
                "no memory for the stack of {thread}: {error}; use fewer threads or a smaller stack size"
            ),
        })?;
        Ok(Shifted::at(stack, thread, size))
    }

    fn from_pool(thread: ThreadId, size: usize) -> Option<Shifted> {
        let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let index = pool.iter().rposition(|(pooled, _)| *pooled == size)?;
        let (_, stack) = pool.swap_remove(index);
        Some(Shifted::at(stack, thread, size))
    }

    fn at(stack: DefaultStack, thread: ThreadId, size: usize) -> Shifted {
        let base = stack.base().get() - thread.index() * 13 % 64 * 64;
        let base = StackPointer::new(base).unwrap_or_else(|| stack.base());
        Shifted { stack, base, size }
    }

    fn give_back(self) {
        let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if pool.len() < POOLED {
            pool.push((self.size, self.stack));
        }
    }
}

// SAFETY: a part of a valid stack, aligned as the whole is.
unsafe impl Stack for Shifted {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
}

/// A coroutine that runs one thread of the program.
pub(crate) struct Fiber {
    routine: Option<Routine>,
    thread: ThreadId,
    session: *mut Session,
    yielder: *const Yielder<(), ()>,
    /// Where the part of the stack that belongs to the program begins.
    base: usize,
    /// Top of the stack.
    top: usize,
    /// Bottom of the stack, where the guard page begins.
    limit: usize,
    /// Whether the thread is in the middle of its work.
    pub(crate) busy: bool,
}

impl Fiber {
    /// A fiber for a thread. `session` must outlive it and not move.
    pub(crate) fn new(thread: ThreadId, session: *mut Session, stack_size: usize) -> Result<Fiber, Error> {
        let stack = match Shifted::from_pool(thread, stack_size) {
            Some(stack) => stack,
            None => Shifted::new(thread, stack_size)?,
        };
        let (base, limit) = (stack.base().get(), stack.limit().get());
        let yielder = std::ptr::null();
        let mut fiber =
            Fiber { routine: None, thread, session, yielder, base, top: base, limit, busy: false };
        fiber.start(stack);
        Ok(fiber)
    }

    fn start(&mut self, stack: Shifted) {
        let (session, thread) = (self.session, self.thread);
        self.routine = Some(Coroutine::with_stack(stack, move |yielder, ()| {
            crate::session::work(session, thread, yielder);
        }));
    }

    /// Remembers how to leave the coroutine.
    pub(crate) fn set_yielder(&mut self, yielder: *const Yielder<(), ()>) {
        self.yielder = yielder;
    }

    /// How to leave the coroutine.
    pub(crate) fn yielder(&self) -> *const Yielder<(), ()> {
        self.yielder
    }

    /// Where the part of the stack that belongs to the program begins.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Says where the part of the stack that belongs to the program begins.
    pub(crate) fn set_base(&mut self, base: usize) {
        self.base = base;
    }

    /// Whether the address is on the stack.
    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.limit..self.top).contains(&address)
    }

    /// Whether the address is in the guard page or just below the stack.
    pub(crate) fn guards(&self, address: usize) -> bool {
        (self.limit.saturating_sub(64 * 1024)..self.limit + 4096).contains(&address)
    }

    /// The coroutine, to resume it.
    #[inline(always)]
    pub(crate) fn routine(&mut self) -> *mut Routine {
        self.routine.as_mut().map_or(std::ptr::null_mut(), |routine| routine as *mut Routine)
    }

    /// Drops what the thread was doing, without running any of its destructors.
    pub(crate) fn abandon(&mut self) {
        self.busy = false;
        self.reset();
        if let Some(routine) = self.routine.take() {
            self.start(routine.into_stack());
        }
    }

    fn reset(&mut self) {
        if let Some(routine) = &mut self.routine
            && !routine.done()
        {
            // SAFETY: nothing on the abandoned stack is used again: its heap blocks go with the
            // arenas, or are leaked.
            unsafe { routine.force_reset() };
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        self.reset();
        if let Some(routine) = self.routine.take() {
            routine.into_stack().give_back();
        }
    }
}
