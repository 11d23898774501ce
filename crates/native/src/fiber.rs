//! Fibers: threads of the program on one OS thread.
//!
//! A fiber borrows the stack and the thread-local storage of a parked OS thread. To switch is to exchange the
//! stack pointer, the registers that a callee must preserve, and the base of the thread-local storage.

use std::arch::{asm, naked_asm};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A fiber that does not run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fiber {
    /// Where its stack ended when it was left.
    pub(crate) stack: usize,
    /// Base of its thread-local storage.
    pub(crate) storage: usize,
    /// Where its stack begins, which grows down.
    pub(crate) top: usize,
    /// Where its stack ends.
    pub(crate) limit: usize,
}

/// Whether the processor lets programs set the base of thread-local storage.
static FAST: AtomicBool = AtomicBool::new(false);

/// Looks what the processor can do.
pub(crate) fn prepare() {
    const FSGSBASE: libc::c_ulong = 2;
    // SAFETY: reads a number that the kernel left.
    let features = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    FAST.store(features & FSGSBASE != 0, Relaxed);
}

/// The base of the thread-local storage of the OS thread that calls; its first word holds it.
pub(crate) fn storage() -> usize {
    let base: usize;
    // SAFETY: the x86-64 ABI keeps the base at this place.
    unsafe { asm!("mov {}, fs:[0]", out(reg) base, options(nostack, readonly, preserves_flags)) };
    base
}

impl Fiber {
    /// Makes the fiber begin anew when it is next switched to.
    pub(crate) fn begin(&mut self) {
        // Six registers and the entry; what is left above them keeps the stack aligned.
        self.stack = (self.top & !15) - 72;
        let words = self.stack as *mut usize;
        // SAFETY: below the top of a stack that nobody uses.
        unsafe {
            for register in 0..6 {
                *words.add(register) = 0;
            }
            *words.add(6) = entry as *const () as usize;
        }
    }
}

/// Leaves the running fiber, whose stack end goes to `save`, and continues `to`.
///
/// # Safety
///
/// `to` has begun or was left by this function, and nobody else runs on its stack.
#[inline(always)]
pub(crate) unsafe fn switch(save: *mut usize, to: &Fiber) {
    // SAFETY: the caller's promise.
    unsafe {
        if FAST.load(Relaxed) {
            switch_fast(save, to.stack, to.storage);
        } else {
            switch_slow(save, to.stack, to.storage);
        }
    }
}

#[unsafe(naked)]
unsafe extern "C" fn switch_fast(save: *mut usize, stack: usize, storage: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "wrfsbase rdx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The same where only the kernel can set the base.
#[unsafe(naked)]
unsafe extern "C" fn switch_slow(save: *mut usize, stack: usize, storage: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "mov rsi, rdx",
        "mov edi, 0x1002",
        "mov eax, 158",
        "syscall",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The bottom of every fiber. There is no frame of Rust between it and the program's function, so that an
/// exception which nobody catches finds the end of the stack.
#[unsafe(naked)]
unsafe extern "C" fn entry() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "xor ebp, ebp",
        "call {begin}",
        "mov r8, rax",
        crate::threads::clear_stack!(),
        "mov rdi, rdx",
        "call r8",
        "mov rdi, rax",
        "call {end}",
        "ud2",
        ".cfi_endproc",
        begin = sym crate::threads::begin,
        end = sym crate::threads::end,
        clears = sym crate::threads::CLEARS,
    )
}
