//! Call stacks of the program.

use std::arch::asm;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
    look_around((&raw mut walk).cast());
    let ends = walk.frames.iter().skip(1).map(|(_, stack)| *stack).chain([walk.end.unwrap_or(top)]);
    walk.frames.iter().zip(ends).map(|(&(address, stack), base)| Frame { address, base, stack }).collect()
}

/// Where a walk goes on that meets a stack which the program has destroyed: instruction and stack pointer, and the other registers that
/// calls keep; 0: there is no walk.
static REFUGE: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Where the walk goes on whose steps have led to an address that cannot be read. What was found before is kept.
pub(crate) fn refuge() -> Option<(usize, usize)> {
    let [instruction, stack] = [REFUGE[0].load(Relaxed), REFUGE[1].load(Relaxed)];
    (instruction != 0).then_some((instruction, stack))
}

/// Visits all frames, as far as they can be found.
fn look_around(walk: *mut c_void) {
    // SAFETY: calls a function of C, with a walk that the callback uses only during the call. If a signal ends that call, the
    // handler goes on at the label with the stack pointer of before the call, and the registers that calls keep are put
    // back. The stack pointer is not changed here, so that the walk finds its way past this frame.
    unsafe {
        asm!(
            "lea r8, [rip + {refuge}]",
            "lea rax, [rip + 2f]",
            "mov [r8 + 8], rsp",
            "mov [r8 + 16], rbp",
            "mov [r8 + 24], rbx",
            "mov [r8 + 32], r12",
            "mov [r8 + 40], r13",
            "mov [r8 + 48], r14",
            "mov [r8 + 56], r15",
            "mov [r8], rax",
            "call r9",
            "2:",
            "lea r8, [rip + {refuge}]",
            "mov rbp, [r8 + 16]",
            "mov rbx, [r8 + 24]",
            "mov r12, [r8 + 32]",
            "mov r13, [r8 + 40]",
            "mov r14, [r8 + 48]",
            "mov r15, [r8 + 56]",
            refuge = sym REFUGE,
            in("rdi") visit as *const (),
            in("rsi") walk,
            in("r9") _Unwind_Backtrace as *const (),
            clobber_abi("C"),
        );
    }
    REFUGE[0].store(0, Relaxed);
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
