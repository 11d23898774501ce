//! Pooled coroutines: one per thread of the program, each on a stack of its own, each good for
//! any number of executions.

use corosensei::stack::Stack;
use corosensei::{Coroutine, Yielder};
use unpick_core::error::Error;
use unpick_core::op::ThreadId;

use crate::session::Session;
use crate::stacks::{FiberStack, GUARD};

pub(crate) type Routine = Coroutine<(), (), (), FiberStack>;

/// A coroutine that runs one thread of the program.
pub(crate) struct Fiber {
    /// On the heap: while it runs, its own code has references to this fiber. Null for a moment, when it is made anew.
    routine: *mut Routine,
    thread: ThreadId,
    session: *mut Session,
    yielder: *const Yielder<(), ()>,
    /// Top of the stack.
    top: usize,
    /// Bottom of the stack, where the guard begins.
    limit: usize,
    /// Whether the thread is in the middle of its work.
    pub(crate) busy: bool,
}

impl Fiber {
    /// A fiber for a thread. `session` must outlive it and not move.
    pub(crate) fn new(thread: ThreadId, session: *mut Session, stack_size: usize) -> Result<Fiber, Error> {
        let stack = FiberStack::take(thread, stack_size).map_err(|error| Error::Machine {
            problem: format!(
                "no memory for the stack of {thread}: {error}; use fewer threads or a smaller stack size"
            ),
        })?;
        let (top, limit) = (stack.base().get(), stack.limit().get());
        let yielder = std::ptr::null();
        let mut fiber =
            Fiber { routine: std::ptr::null_mut(), thread, session, yielder, top, limit, busy: false };
        fiber.start(stack);
        Ok(fiber)
    }

    fn start(&mut self, stack: FiberStack) {
        let (session, thread) = (self.session, self.thread);
        self.routine = Box::into_raw(Box::new(Coroutine::with_stack(stack, move |yielder, ()| {
            crate::session::work(session, thread, yielder);
        })));
    }

    /// Stops the coroutine, and takes its stack back.
    fn stop(&mut self) -> FiberStack {
        // SAFETY: it was made by `start`, and does not run, since only its own OS thread has it.
        let mut routine =
            unsafe { Box::from_raw(std::mem::replace(&mut self.routine, std::ptr::null_mut())) };
        if !routine.done() {
            // SAFETY: nothing on the abandoned stack is used again: its heap blocks go with the
            // arenas, or are leaked.
            unsafe { routine.force_reset() };
        }
        routine.into_stack()
    }

    /// Remembers how to leave the coroutine.
    pub(crate) fn set_yielder(&mut self, yielder: *const Yielder<(), ()>) {
        self.yielder = yielder;
    }

    /// How to leave the coroutine.
    pub(crate) fn yielder(&self) -> *const Yielder<(), ()> {
        self.yielder
    }

    /// Whether the address is on the stack.
    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.limit..self.top).contains(&address)
    }

    /// The lowest address of the stack that can be used.
    pub(crate) fn floor(&self) -> usize {
        self.limit + GUARD
    }

    /// Whether the address is in the guard of the stack.
    pub(crate) fn guards(&self, address: usize) -> bool {
        (self.limit..self.limit + GUARD).contains(&address)
    }

    /// The coroutine, to resume it.
    #[inline(always)]
    pub(crate) fn routine(&self) -> *mut Routine {
        self.routine
    }

    /// Drops what the thread was doing, without running any of its destructors.
    pub(crate) fn abandon(&mut self) {
        self.busy = false;
        let stack = self.stop();
        self.start(stack);
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        self.stop().give_back();
    }
}
