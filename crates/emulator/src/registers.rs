//! The registers that a piece begins and ends with. Vector registers are not among them: at a call,
//! where pieces begin, they hold nothing that the code may rely on.

/// The general registers, where the next instruction is, and the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// In the order of the hardware: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub general: [u64; 16],
    /// The address of the next instruction.
    pub rip: u64,
    /// As `pushfq` gives them.
    pub flags: u64,
}

macro_rules! numbers {
    ($($name:ident $number:literal)*) => {
        $(#[doc = concat!("The place of `", stringify!($name), "` in [`Registers::general`].")]
        pub const $name: usize = $number;)*
    };
}
numbers! {
    RAX 0 RCX 1 RDX 2 RBX 3 RSP 4 RBP 5 RSI 6 RDI 7
    R8 8 R9 9 R10 10 R11 11 R12 12 R13 13 R14 14 R15 15
}
