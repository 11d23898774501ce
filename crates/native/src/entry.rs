//! How calls of the program come in: with the registers and the stack of the caller in view.
//!
//! What a loop keeps from one round to the next is on its stack or in registers that a callee must preserve. The
//! entries are bare machine code, so that nothing of ours lies between: they put those registers below the
//! caller's frame, leave their address in [`FRAME`], and call what does the work.

/// Where the registers of the last caller are; the live stack of the caller comes above them.
pub(crate) static mut FRAME: usize = 0;

/// Where the last plain access was made.
pub(crate) static mut PLAIN_SITE: usize = 0;

/// A call of the program: what does its work, and its first six arguments.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Call {
    /// What does the work.
    pub(crate) target: usize,
    /// The arguments.
    pub(crate) arguments: [usize; 6],
}

/// The last call.
pub(crate) static mut CALL: Call = Call { target: 0, arguments: [0; 6] };

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

/// The last call.
#[inline(always)]
pub(crate) fn last_call() -> Call {
    // SAFETY: as for `frame`.
    unsafe { CALL }
}

/// A function of the program's interface, and what does its work.
#[repr(C)]
pub(crate) struct Entry {
    /// Where the program calls it.
    pub(crate) address: *const (),
    /// What does the work.
    pub(crate) target: *const (),
    /// The module that it is in.
    pub(crate) module: &'static str,
}

// SAFETY: the addresses are of code.
unsafe impl Sync for Entry {}

#[allow(improper_ctypes, reason = "both sides are ours")]
unsafe extern "C" {
    #[link_name = "__start_unpick_entries"]
    static FIRST: Entry;
    #[link_name = "__stop_unpick_entries"]
    static END: Entry;
}

/// All functions of the program's interface.
pub(crate) fn all() -> &'static [Entry] {
    let (first, end) = (&raw const FIRST, &raw const END);
    // SAFETY: the linker puts all entries of the section next to each other, and says where they begin and end.
    unsafe { std::slice::from_raw_parts(first, end.offset_from(first) as usize) }
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
    ($($name:ident => $target:ident;)*) => { mod exports {
        #[used]
        #[unsafe(link_section = "unpick_entries")]
        static ENTRIES: [$crate::entry::Entry; [$(stringify!($name)),*].len()] = [$($crate::entry::Entry {
            address: $name as *const (),
            target: super::$target as *const (),
            module: module_path!(),
        }),*];
        $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "lea r11, [rip + {target}]",
                "mov [rip + {call}], r11",
                "mov [rip + {call} + 8], rdi",
                "mov [rip + {call} + 16], rsi",
                "mov [rip + {call} + 24], rdx",
                "mov [rip + {call} + 32], rcx",
                "mov [rip + {call} + 40], r8",
                "mov [rip + {call} + 48], r9",
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
                // What these hold means nothing to the caller, but it may push them.
                "xor ecx, ecx",
                "xor esi, esi",
                "xor edi, edi",
                "xor r8d, r8d",
                "xor r9d, r9d",
                "xor r10d, r10d",
                "xor r11d, r11d",
                "ret",
                ".cfi_endproc",
                call = sym $crate::entry::CALL,
                frame = sym $crate::entry::FRAME,
                target = sym super::$target,
            )
        }
    )* } };
}
pub(crate) use entries;

/// Defines functions for plain accesses: `name => function;`.
macro_rules! plain_entries {
    ($($name:ident => $target:ident;)*) => { mod exports {
        #[used]
        #[unsafe(link_section = "unpick_entries")]
        static ENTRIES: [$crate::entry::Entry; [$(stringify!($name)),*].len()] = [$($crate::entry::Entry {
            address: $name as *const (),
            target: super::$target as *const (),
            module: module_path!(),
        }),*];
        $(
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
