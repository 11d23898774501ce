//! How threads end themselves: the stack is unwound, so that destructors and handlers of the program run, and then the
//! thread ends.
//!
//! The unwinder must not meet a frame of Rust, so the entries are bare machine code. What it needs to remember lies in the
//! thread-local storage, since the stack is given up on the way, and the engine's memory is not for it to write to. C programs without exceptions register where to go on instead, and
//! are sent there when their frame has been reached.

use std::arch::naked_asm;
use std::cell::UnsafeCell;
use std::ffi::c_void;

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops;
use crate::real::{pass, pointer};
use crate::session;
use crate::threads;

/// What the unwinder remembers: a class, a function, and words of its own.
#[repr(C, align(16))]
#[derive(Debug)]
struct Unwinding([usize; 8]);

thread_local! {
    /// That of the running thread of the program, whose storage is in place while it runs.
    static UNWINDING: UnsafeCell<Unwinding> = const { UnsafeCell::new(Unwinding([0; 8])) };
}

/// Where it lies.
fn unwinding() -> *mut Unwinding {
    UNWINDING.with(UnsafeCell::get)
}

/// What the entries do next: unwind with this exception, or, if there is none, go on at this address.
#[repr(C)]
struct Next {
    exception: usize,
    function: usize,
}

/// Defines an entry that unwinds: `name => function` that says how.
macro_rules! unwinding_entries {
    ($($name:ident => $begin:ident;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                "push rbx",
                "push rbp",
                "push r12",
                "push r13",
                "push r14",
                "push r15",
                "mov [rip + {frame}], rsp",
                "push rdi",
                ".cfi_adjust_cfa_offset 56",
                ".cfi_rel_offset rbx, 48",
                ".cfi_rel_offset rbp, 40",
                ".cfi_rel_offset r12, 32",
                ".cfi_rel_offset r13, 24",
                ".cfi_rel_offset r14, 16",
                ".cfi_rel_offset r15, 8",
                "call {begin}",
                "test rax, rax",
                "je 2f",
                "mov rdi, rax",
                "lea rsi, [rip + {stop}]",
                "xor edx, edx",
                "call {unwind}@PLT",
                "call {end}",
                "ud2",
                "2:",
                "pop rdi",
                "add rsp, 48",
                ".cfi_adjust_cfa_offset -56",
                "jmp rdx",
                ".cfi_endproc",
                frame = sym crate::entry::FRAME,
                begin = sym $begin,
                stop = sym stop,
                unwind = sym _Unwind_ForcedUnwind,
                end = sym threads::end_unwound,
            )
        }
    )* };
}

unwinding_entries! {
    pthread_exit => begin;
    __pthread_unwind_next => go_on;
}

/// `thrd_exit` is `pthread_exit` with a number.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_exit() {
    naked_asm!("movsxd rdi, edi", "jmp {exit}", exit = sym pthread_exit)
}

entries! {
    __pthread_register_cancel => register;
    __pthread_unregister_cancel => unregister;
}

unsafe extern "C" {
    fn _Unwind_ForcedUnwind(exception: usize, stop: usize, argument: usize) -> i32;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn longjmp(place: usize, value: i32) -> !;
}

/// The function of the C library behind an entry, where nothing is checked.
macro_rules! behind {
    ($name:literal) => {{
        static FOUND: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        Next { exception: 0, function: pointer::<usize>(&FOUND, $name) }
    }};
}

extern "C" fn begin(result: usize) -> Next {
    let Some(caller) = ops::enter() else { return behind!(c"pthread_exit") };
    let thread = &mut caller.session().threads[caller.thread.index()];
    thread.result = result;
    // Whoever catches it must let it go on.
    // SAFETY: memory of this thread; it does not unwind yet.
    unsafe { *unwinding() = Unwinding([0, libc::abort as *const () as usize, 0, 0, 0, 0, 0, 0]) };
    caller.leave();
    Next { exception: unwinding() as usize, function: 0 }
}

/// A handler has run.
extern "C" fn go_on(place: usize) -> Next {
    let Some(caller) = ops::enter() else { return behind!(c"__pthread_unwind_next") };
    let thread = &mut caller.session().threads[caller.thread.index()];
    thread.handlers.retain(|&handler| handler != place);
    caller.leave();
    Next { exception: unwinding() as usize, function: 0 }
}

extern "C" fn register(place: usize) {
    if mode::mode() == Mode::Off {
        return pass!(c"__pthread_register_cancel", fn(usize) -> (), place);
    }
    if let Some(caller) = ops::enter() {
        caller.session().threads[caller.thread.index()].handlers.push(place);
        caller.leave();
    }
}

extern "C" fn unregister(place: usize) {
    if mode::mode() == Mode::Off {
        return pass!(c"__pthread_unregister_cancel", fn(usize) -> (), place);
    }
    if let Some(caller) = ops::enter() {
        caller.session().threads[caller.thread.index()].handlers.retain(|&handler| handler != place);
        caller.leave();
    }
}

/// The unwinder asks at each frame whether to go on.
extern "C" fn stop(_: i32, actions: i32, _: u64, _: *mut c_void, context: *mut c_void, _: usize) -> i32 {
    const END_OF_STACK: i32 = 16;
    const GO_ON: i32 = 0;
    let ends = actions & END_OF_STACK != 0;
    // SAFETY: the context is the unwinder's; the session is there while the program runs, and nothing is held across a jump.
    unsafe {
        let s = &*session::get();
        let handler = s.threads[s.current.index()].handlers.last().copied();
        match handler {
            Some(place) if ends || _Unwind_GetCFA(context) > place => longjmp(place, 1),
            _ if ends => threads::end_unwound(),
            _ => GO_ON,
        }
    }
}
