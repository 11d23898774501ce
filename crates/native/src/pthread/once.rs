//! What is done once.
//!
//! The word is 0 at first, 1 while a thread does it, and 2 when it is done. The function is called from bare machine
//! code, since an exception may leave it. The frame of that code has a personality: when an exception passes, the word
//! becomes 0 again.

use std::arch::naked_asm;
use std::ffi::c_void;

use unpick_core::op::{Addr, Op};

use crate::mode::{self, Mode};
use crate::ops::{self, Caller};
use crate::places::Key;

const DONE: u64 = 2;

/// The way of a `pthread_once`: a frame of 32 bytes, the word and the function in it.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_once() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rip + {frame}], rsp",
        "sub rsp, 24",
        ".cfi_adjust_cfa_offset 72",
        ".cfi_rel_offset rbx, 64",
        ".cfi_rel_offset rbp, 56",
        ".cfi_rel_offset r12, 48",
        ".cfi_rel_offset r13, 40",
        ".cfi_rel_offset r14, 32",
        ".cfi_rel_offset r15, 24",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "call {begin}",
        "test eax, eax",
        "je 2f",
        "call [rsp + 8]",
        "mov rdi, [rsp]",
        "lea rax, [rsp + 24]",
        "mov [rip + {frame}], rax",
        "call {end}",
        "2:",
        "xor eax, eax",
        "add rsp, 72",
        ".cfi_adjust_cfa_offset -72",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
        frame = sym crate::entry::FRAME,
        begin = sym begin,
        end = sym end,
    )
}

fn key(word: *mut u32) -> Key {
    Key { address: word as usize, width: 4, kind: "once" }
}

/// Whether the caller is to do it.
unsafe extern "C" fn begin(word: *mut u32) -> i32 {
    let Some(caller) = ops::enter() else {
        // SAFETY: the caller's word.
        return i32::from(unsafe { begin_ordinarily(word) });
    };
    let first = caller.take(key(word), Op::enter(Addr::NONE, 0, caller.site)) == 0;
    caller.leave();
    i32::from(first)
}

unsafe extern "C" fn end(word: *mut u32) {
    // SAFETY: the caller's word.
    unsafe { leave(word, DONE) };
}

unsafe fn leave(word: *mut u32, value: u64) {
    match ops::enter() {
        Some(caller) => {
            leave_as(&caller, word, value);
            caller.leave();
        }
        None => {
            // SAFETY: the caller's word, which others wait for.
            let word = unsafe { std::sync::atomic::AtomicU32::from_ptr(word) };
            word.store(value as u32, std::sync::atomic::Ordering::Release);
        }
    }
}

fn leave_as(caller: &Caller, word: *mut u32, value: u64) {
    caller.take(key(word), Op::leave(Addr::NONE, value, caller.site));
}

/// The same in an ordinary process, or before `main`.
unsafe fn begin_ordinarily(word: *mut u32) -> bool {
    use std::sync::atomic::{AtomicU32, Ordering};
    // SAFETY: the caller's word.
    let word = unsafe { AtomicU32::from_ptr(word) };
    loop {
        match word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return true,
            Err(1) if mode::mode() == Mode::Off => std::thread::yield_now(),
            Err(_) => return false,
        }
    }
}

unsafe extern "C" {
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// Called for the frame of [`pthread_once`] when an exception passes; in the second phase, when it is known that it
/// is caught somewhere.
extern "C" fn personality(_: i32, actions: i32, _: u64, _: *mut c_void, context: *mut c_void) -> i32 {
    const CLEANUP: i32 = 2;
    const GO_ON: i32 = 8;
    if actions & CLEANUP != 0 {
        // SAFETY: what the unwinder gives is where the stack ended when the function was called; the word is there.
        unsafe {
            let stack = _Unwind_GetCFA(context);
            crate::entry::set_frame(stack + 24);
            leave(*(stack as *const *mut u32), 0);
        }
    }
    GO_ON
}
