//! Who answers calls that leave the code of a piece.

use crate::Machine;

/// Who answers calls that leave the program's code.
///
/// A host must not allocate, nor free: the heap may be in a state that the piece has made.
pub trait Host {
    /// Control has just been transferred, by a call or an unconditional jump, to
    /// `machine.registers.rip`. On a call the return address is at `[rsp]` already. It is not asked on
    /// `ret`.
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
