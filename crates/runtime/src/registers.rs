//! The entry of ops on the watched path: it shows the engine the registers of user code.
//!
//! What a loop keeps from one iteration to the next is on its stack or in registers that a callee
//! must preserve. The entry is bare machine code, so that nothing of ours lies between: it puts
//! those registers below the caller's frame and passes their address on.

use unpick_core::op::Value;

use crate::ops::{Request, take};

extern "C" fn handle(request: *mut Request<'_>, stack: usize) -> Value {
    crate::shared::end_quiet();
    // SAFETY: the request that the entry got.
    let request = unsafe { &mut *request };
    let value = take(request, stack);
    crate::ops::used(request);
    crate::ops::stop_behind(request.object.kind);
    value
}

/// Takes a request, with the caller's state in view.
///
/// # Safety
///
/// The pointer must be to a request that nobody else uses, as for any path.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn watched(request: *mut Request<'_>) -> Value {
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
        // What these hold means nothing to the caller, but it may push them.
        "xor ecx, ecx",
        "xor edx, edx",
        "xor esi, esi",
        "xor edi, edi",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        "ret",
        ".cfi_endproc",
        handle = sym handle,
    )
}

/// As on the other processor.
///
/// # Safety
///
/// As there.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn watched(request: *mut Request<'_>) -> Value {
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

/// Takes a request; loops are not watched here.
///
/// # Safety
///
/// As for the others.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) unsafe extern "C-unwind" fn watched(request: *mut Request<'_>) -> Value {
    handle(request, 0)
}

/// Makes registers zero that a callee need not preserve, as the last thing that a function does which code under test calls.
#[inline(always)]
pub(crate) fn forget_scratch() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the registers are said to be changed.
    unsafe {
        core::arch::asm!(
            "xor ecx, ecx",
            "xor edx, edx",
            "xor esi, esi",
            "xor edi, edi",
            "xor r8d, r8d",
            "xor r9d, r9d",
            "xor r10d, r10d",
            "xor r11d, r11d",
            out("rcx") _, out("rdx") _, out("rsi") _, out("rdi") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            options(nomem, nostack),
        );
    }
}
