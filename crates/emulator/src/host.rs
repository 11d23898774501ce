//! Who answers calls that leave the code of a piece.

use crate::Machine;

/// Who answers calls that leave the program's code.
///
/// A host must not allocate, nor free: the heap may be in a state that the piece has made.
pub trait Host {
    /// Control has just been transferred to `machine.registers.rip` by a call, by an unconditional jump, or
    /// by a conditional one that could be a call at the end of a function. On a call the return address is
    /// at `[rsp]`. It is not asked on `ret`, nor on jumps that are short and conditional.
    fn enter(&mut self, machine: &mut Machine) -> Enter;
}

/// What becomes of control that has entered a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enter {
    /// Go on emulating there.
    Code,
    /// The host has carried the function out: its value is put into `rax`, and it returns to its caller.
    Return(u64),
    /// The piece ends here; `rip` and `rsp` stay as they are.
    End,
    /// It cannot be known what happens here; the reason.
    GiveUp(&'static str),
}
