//! How calls of the program come in: with the registers and the stack of the caller in view.
//!
//! What a loop keeps from one round to the next is on its stack or in registers that a callee must preserve. The
//! entries are bare machine code, so that nothing of ours lies between: they put those registers below the
//! caller's frame, leave their address in [`FRAME`], and call what does the work.

/// Where the registers of the last caller are; the live stack of the caller comes above them.
pub(crate) static mut FRAME: usize = 0;

/// Where the last plain access was made.
pub(crate) static mut PLAIN_SITE: usize = 0;

/// Bytes from the frame to the return address.
const RETURN: usize = 48;

/// Where the last caller stands.
#[inline(always)]
pub(crate) fn frame() -> usize {
    // SAFETY: a word that only this OS thread uses in a check; elsewhere nobody looks at its value.
    unsafe { FRAME }
}

/// Says where the caller stands, where no entry has.
pub(crate) fn set_frame(frame: usize) {
    // SAFETY: as for `frame`.
    unsafe { FRAME = frame };
}

/// The address to which a call returns.
#[inline(always)]
pub(crate) fn return_address(frame: usize) -> usize {
    // SAFETY: the entry has left the frame there, and the call has not returned.
    unsafe { *((frame + RETURN) as *const usize) }
}

/// Where the last plain access was made.
#[inline(always)]
pub(crate) fn plain_site() -> usize {
    // SAFETY: as for `frame`.
    unsafe { PLAIN_SITE }
}

/// Defines functions of the program's interface that may take ops: `name => function;`.
macro_rules! entries {
    ($($name:ident => $target:ident;)*) => { mod exports { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "push rbx",
                "push rbp",
                "push r12",
                "push r13",
                "push r14",
                "push r15",
                "mov [rip + {frame}], rsp",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 56",
                ".cfi_rel_offset rbx, 48",
                ".cfi_rel_offset rbp, 40",
                ".cfi_rel_offset r12, 32",
                ".cfi_rel_offset r13, 24",
                ".cfi_rel_offset r14, 16",
                ".cfi_rel_offset r15, 8",
                "call {target}",
                "add rsp, 56",
                ".cfi_adjust_cfa_offset -56",
                "ret",
                ".cfi_endproc",
                frame = sym $crate::entry::FRAME,
                target = sym super::$target,
            )
        }
    )* } };
}
pub(crate) use entries;

/// Defines functions for plain accesses: `name => function;`.
macro_rules! plain_entries {
    ($($name:ident => $target:ident;)*) => { mod exports { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                "mov rax, [rsp]",
                "mov [rip + {site}], rax",
                "jmp {target}",
                site = sym $crate::entry::PLAIN_SITE,
                target = sym super::$target,
            )
        }
    )* } };
}
pub(crate) use plain_entries;
