//! String instructions, one element after the other. The direction flag is clear: pieces with it set are
//! refused at their beginning, and nothing that is followed sets it.

use crate::log::Log;
use crate::obstacle::Obstacle;
use crate::registers::{RAX, RCX, RDI, RSI};

use super::stub::Context;

/// A string instruction.
#[derive(Clone, Copy)]
pub(crate) struct Strings {
    pub(crate) op: StringOp,
    /// Of an element, in bytes.
    pub(crate) size: u8,
    pub(crate) repeat: Repeat,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringOp {
    Move,
    Store,
    Load,
    Compare,
    Scan,
}

/// How often it is done. Instructions that compare nothing do not look at the zero flag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Once,
    WhileEqual,
    WhileDifferent,
}

/// The most elements of one instruction; more cannot be of a round that is worth following.
const MOST: u64 = 1 << 24;

impl Strings {
    /// Carries it out. Gives the number of elements.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    pub(crate) unsafe fn run(self, context: &mut Context, log: &mut Log) -> Result<u64, Obstacle> {
        if self.repeat == Repeat::Once {
            // SAFETY: as promised by the caller.
            unsafe { self.element(context, log)? };
            return Ok(1);
        }
        let count = context.general[RCX];
        if count > MOST {
            return Err(Obstacle::TooMuchMemory);
        }
        let mut done = 0;
        while context.general[RCX] != 0 {
            // SAFETY: as promised by the caller.
            unsafe { self.element(context, log)? };
            context.general[RCX] -= 1;
            done += 1;
            let equal = context.flags & 0x40 != 0;
            if matches!(self.op, StringOp::Compare | StringOp::Scan)
                && equal != (self.repeat == Repeat::WhileEqual)
            {
                break;
            }
        }
        Ok(done)
    }

    /// # Safety
    /// Nobody else uses the memory.
    unsafe fn element(self, context: &mut Context, log: &mut Log) -> Result<(), Obstacle> {
        let size = usize::from(self.size);
        let general = &mut context.general;
        let (from, to) = (general[RSI] as usize, general[RDI] as usize);
        let mask = u64::MAX >> (64 - 8 * size);
        // SAFETY: the log has seen that the bytes are mapped; the rest is promised by the caller.
        let mut read = |address: usize| unsafe {
            log.touch(address, size, false)?;
            let mut bytes = [0; 8];
            std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size);
            Ok(u64::from_le_bytes(bytes))
        };
        let value = match self.op {
            StringOp::Store | StringOp::Scan => general[RAX] & mask,
            _ => read(from)?,
        };
        match self.op {
            StringOp::Move | StringOp::Store => {
                log.touch(to, size, true)?;
                // SAFETY: the log has seen that the bytes may be written.
                unsafe {
                    std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), to as *mut u8, size);
                }
            }
            StringOp::Load if size == 4 => general[RAX] = value,
            StringOp::Load => general[RAX] = general[RAX] & !mask | value,
            StringOp::Compare | StringOp::Scan => {
                let other = read(to)?;
                context.flags = context.flags & !STATUS | difference(value, other, size);
            }
        }
        if self.op != StringOp::Store && self.op != StringOp::Scan {
            context.general[RSI] = context.general[RSI].wrapping_add(size as u64);
        }
        if self.op != StringOp::Load {
            context.general[RDI] = context.general[RDI].wrapping_add(size as u64);
        }
        Ok(())
    }
}

/// Carry, parity, adjust, zero, sign and overflow.
const STATUS: u64 = 0x8d5;

/// The status flags after `cmp left, right`, of so many bytes.
fn difference(left: u64, right: u64, size: usize) -> u64 {
    let top = 8 * size - 1;
    let result = left.wrapping_sub(right) & (u64::MAX >> (63 - top));
    u64::from(left < right)
        | u64::from((result as u8).count_ones().is_multiple_of(2)) << 2
        | ((left ^ right ^ result) & 0x10)
        | u64::from(result == 0) << 6
        | (result >> top & 1) << 7
        | (((left ^ right) & (left ^ result)) >> top & 1) << 11
}
