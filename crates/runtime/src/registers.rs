//! The entry of ops on the watched path: it shows the engine the registers of user code.
//!
//! What a loop keeps from one iteration to the next is on its stack or in registers that a callee
//! must preserve. The entry is bare machine code, so that nothing of ours lies between: it puts
//! those registers below the caller's frame and passes their address on.

use unpick_core::op::Value;

use crate::ops::{Request, take};

/// Takes a request, with the caller's state in view.
#[inline(always)]
pub(crate) fn watched(request: &mut Request<'_>) -> Value {
    // SAFETY: the entry keeps the calling convention and passes the pointer on to `handle`, which
    // uses it before it returns.
    unsafe { entry((request as *mut Request<'_>).cast()) }
}

extern "C" fn handle(request: *mut u8, stack: usize) -> Value {
    crate::shared::end_quiet();
    // SAFETY: `watched` passes a valid request.
    take::<false>(unsafe { &mut *request.cast::<Request<'_>>() }, stack)
}

#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn entry(request: *mut u8) -> Value {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rsi, rsp",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 56",
        "call {handle}",
        "add rsp, 56",
        ".cfi_adjust_cfa_offset -56",
        "ret",
        ".cfi_endproc",
        handle = sym handle,
    )
}

#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn entry(request: *mut u8) -> Value {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub sp, sp, #160",
        ".cfi_adjust_cfa_offset 160",
        "stp x19, x20, [sp]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        ".cfi_rel_offset x30, 88",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x1, sp",
        "bl {handle}",
        "ldp x29, x30, [sp, #80]",
        "add sp, sp, #160",
        ".cfi_adjust_cfa_offset -160",
        "ret",
        ".cfi_endproc",
        handle = sym handle,
    )
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe extern "C" fn entry(request: *mut u8) -> Value {
    handle(request, 0)
}
