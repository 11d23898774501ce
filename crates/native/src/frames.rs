//! Call stacks of the program.

use std::ffi::c_void;

type Context = c_void;

unsafe extern "C" {
    fn _Unwind_Backtrace(visit: extern "C" fn(*mut Context, *mut c_void) -> i32, walk: *mut c_void) -> i32;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

/// Frames at most.
const MOST: usize = 64;

struct Walk {
    frame: usize,
    top: usize,
    /// Frames are passed over until this address is met.
    skipped_to: Option<usize>,
    /// Where each frame goes on, and its stack pointer; after the last one, where that one ends.
    frames: Vec<(usize, usize)>,
    end: Option<usize>,
}

/// A function that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Where it goes on.
    pub(crate) address: usize,
    /// Its canonical frame address: the stack pointer before it was called.
    pub(crate) base: usize,
    /// Its stack pointer.
    pub(crate) stack: usize,
}

/// Lets the library that walks stacks build what it keeps. It does so under a `pthread_once`, which the program meets as well when it
/// throws an exception: whether stacks were walked before must not make a difference to it.
pub(crate) fn prepare() {
    walk(0, usize::MAX);
}

/// The frames between `frame` and `top`, innermost first.
pub(crate) fn walk(frame: usize, top: usize) -> Vec<Frame> {
    walk_from(frame, top, None)
}

/// The same for a thread that a signal has interrupted at an instruction. The handler runs on a stack of its own.
pub(crate) fn walk_interrupted(instruction: usize, stack: usize, top: usize) -> Vec<Frame> {
    walk_from(stack - 1, top, Some(instruction))
}

/// The same for a thread that has called from a place, without what lies between.
pub(crate) fn walk_to(place: usize, top: usize) -> Vec<Frame> {
    walk_from(0, top, Some(place))
}

fn walk_from(frame: usize, top: usize, skipped_to: Option<usize>) -> Vec<Frame> {
    let mut walk = Walk { frame, top, skipped_to, frames: Vec::new(), end: None };
    // SAFETY: the callback gets the walk, and uses it only during the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    let ends = walk.frames.iter().skip(1).map(|(_, stack)| *stack).chain([walk.end.unwrap_or(top)]);
    walk.frames.iter().zip(ends).map(|(&(address, stack), base)| Frame { address, base, stack }).collect()
}

extern "C" fn visit(context: *mut Context, walk: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: see `walk`; the context is valid during the call. What is called the canonical frame address there is that
    // of the frame before, which is the stack pointer of this one.
    let (walk, address, stack) =
        unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    if walk.skipped_to.is_some_and(|wanted| wanted != address) {
        return GO_ON;
    }
    walk.skipped_to = None;
    if stack > walk.top || address == 0 || walk.frames.len() == MOST {
        walk.end = (stack <= walk.top).then_some(stack);
        return END;
    }
    if stack > walk.frame {
        walk.frames.push((address, stack));
    }
    GO_ON
}
