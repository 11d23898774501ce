//! What an instruction does to registers and memory.

use super::code::{Code, Entry};
use super::decode::{Division, Divisor, Operand, Source, Stack, Transfer, is_met};
use super::probe;
use super::stub::{Context, LARGEST, NO_REGISTER, Stub};
use crate::log::Log;
use crate::obstacle::{Name, Obstacle};
use crate::registers::{R11, RAX, RBP, RCX, RDX, RSP};

/// Carry, parity, adjust, zero, sign and overflow.
pub(crate) const STATUS: u64 = 0x8d5;
/// Flags that change how instructions work: trap, direction, nested task, alignment check.
pub(crate) const MODES: u64 = 0x100 | 0x400 | 0x4000 | 0x4_0000;

/// What an instruction works on.
pub(crate) struct Step<'a> {
    pub(crate) context: *mut Context,
    pub(crate) log: &'a mut Log,
    /// The address that the segment `fs` begins at.
    pub(crate) fs: u64,
}

impl Step<'_> {
    #[inline]
    fn context(&mut self) -> &mut Context {
        // SAFETY: the context is the machine's, which is borrowed, and no stub runs.
        unsafe { &mut *self.context }
    }

    #[inline]
    pub(super) fn general(&mut self, number: usize) -> u64 {
        self.context().general[number]
    }

    #[inline]
    fn place(&mut self, operand: &Operand) -> usize {
        let base = self.general(usize::from(operand.base));
        let index = self.general(usize::from(operand.index)) << operand.shift;
        let segment = if operand.fs { self.fs } else { 0 };
        base.wrapping_add(index).wrapping_add(operand.displacement).wrapping_add(segment) as usize
    }

    /// Executes a stub with its memory operand.
    ///
    /// # Safety
    /// As for `Stubs::execute`; and nobody else uses the memory.
    #[inline]
    pub(crate) unsafe fn execute(
        &mut self,
        code: &Code,
        stub: Stub,
        operand: &Operand,
        address: u64,
    ) -> Result<(), Obstacle> {
        let place = self.place(operand);
        let size = usize::from(operand.size);
        if !place.is_multiple_of(usize::from(operand.align)) {
            let reason = "its operand is not aligned";
            return Err(Obstacle::Fault { address: address as usize, reason });
        }
        self.log.touch(place, size, operand.writes)?;
        // SAFETY: the log has seen that the bytes are mapped; the buffer has room for the largest operand.
        unsafe {
            copy(place as *const u8, code.stubs.scratch(), size);
            code.stubs.execute(stub);
            if operand.writes {
                copy(code.stubs.scratch(), place as *mut u8, size);
            }
        }
        Ok(())
    }

    /// Executes a stub for a bit: the operand is the one that the bit is in, and its number is counted from
    /// there.
    ///
    /// # Safety
    /// As for `execute`.
    pub(crate) unsafe fn execute_bit(
        &mut self,
        code: &Code,
        stub: Stub,
        operand: &Operand,
        number: usize,
        address: u64,
    ) -> Result<(), Obstacle> {
        let kept = self.general(number);
        let bits = 8 * u64::from(operand.size);
        let signed = match operand.size {
            2 => i64::from(kept as i16),
            4 => i64::from(kept as i32),
            _ => kept as i64,
        };
        let distance = signed.div_euclid(bits as i64) * i64::from(operand.size);
        let displacement = operand.displacement.wrapping_add(distance as u64);
        let place = Operand { displacement, ..*operand };
        // The place is computed from registers as they are, so it is made a constant before they change.
        let place = Operand {
            displacement: self.place(&place) as u64,
            base: NO_REGISTER,
            index: NO_REGISTER,
            fs: false,
            ..place
        };
        self.context().general[number] = kept & (bits - 1);
        // SAFETY: as promised by the caller.
        let result = unsafe { self.execute(code, stub, &place, address) };
        self.context().general[number] = kept;
        result
    }

    /// Where control goes, and whether that is by a call or a jump.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    pub(crate) unsafe fn transfer(
        &mut self,
        transfer: &Transfer,
        next: u64,
    ) -> Result<(u64, bool), Obstacle> {
        let branch = |taken: bool, target: u64| Ok((if taken { target } else { next }, false));
        // SAFETY: promised by the caller.
        unsafe {
            match transfer {
                Transfer::JumpIf(condition, target, far) => {
                    let taken = is_met(*condition, self.context().flags);
                    Ok((if taken { *target } else { next }, taken && *far))
                }
                Transfer::JumpIfZero(target) => branch(self.general(RCX) == 0, *target),
                Transfer::Loop(zero, target) => {
                    let count = self.general(RCX).wrapping_sub(1);
                    self.context().general[RCX] = count;
                    let is_zero = self.context().flags & 0x40 != 0;
                    branch(count != 0 && zero.is_none_or(|zero| zero == is_zero), *target)
                }
                Transfer::Jump(source) => Ok((self.value(source)?, true)),
                Transfer::Call(source) => {
                    let target = self.value(source)?;
                    self.push(next)?;
                    Ok((target, true))
                }
                Transfer::Return(more) => {
                    let target = self.pop()?;
                    let top = self.general(RSP);
                    self.context().general[RSP] = top.wrapping_add(u64::from(*more));
                    Ok((target, false))
                }
            }
        }
    }

    /// Fills bytes of the stack that hold nothing.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    pub(crate) unsafe fn fill(&mut self, from: u64, to: u64, byte: u8) -> Result<(), Obstacle> {
        let (start, size) = (from as usize, to.saturating_sub(from) as usize);
        self.log.touch(start, size, true)?;
        // SAFETY: the log has seen that the bytes may be written.
        unsafe { (start as *mut u8).write_bytes(byte, size) };
        self.log.undefine(start, start + size)
    }

    /// What an instruction does that uses the stack.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    pub(crate) unsafe fn stack(&mut self, stack: &Stack, address: u64) -> Result<(), Obstacle> {
        // SAFETY: promised by the caller.
        unsafe {
            match stack {
                Stack::Push(source) => {
                    let value = self.value(source)?;
                    self.push(value)?;
                }
                Stack::PushFlags => {
                    let flags = self.context().flags;
                    self.push(flags)?;
                }
                Stack::PopFlags => {
                    let flags = self.pop()?;
                    if flags & MODES != 0 {
                        let (name, reason) = (Name::new("popfq"), "sets a flag that changes the mode");
                        return Err(Obstacle::Instruction { address: address as usize, name, reason });
                    }
                    self.context().flags = flags & STATUS | 0x202;
                }
                Stack::PopRegister(number) => {
                    let value = self.pop()?;
                    self.context().general[usize::from(*number)] = value;
                }
                Stack::PopMemory(operand) => {
                    // An address that is relative to the stack pointer is so to what it is after.
                    let value = self.pop()?;
                    let place = self.place(operand);
                    self.log.touch(place, 8, true)?;
                    (place as *mut u64).write_unaligned(value);
                }
                Stack::Leave => {
                    let frame = self.general(RBP);
                    self.context().general[RSP] = frame;
                    let value = self.pop()?;
                    self.context().general[RBP] = value;
                }
                Stack::Enter(size) => {
                    let frame = self.general(RBP);
                    self.push(frame)?;
                    let (base, top) = (self.general(RSP), self.general(RSP).wrapping_sub(u64::from(*size)));
                    // The processor faults if it could not write where the stack ends.
                    self.log.touch(top as usize, 8, true)?;
                    self.context().general[RBP] = base;
                    self.context().general[RSP] = top;
                }
            }
        }
        Ok(())
    }

    /// Executes a stub that divides, unless it would fault.
    ///
    /// # Safety
    /// As for `execute`.
    pub(crate) unsafe fn divide(
        &mut self,
        code: &Code,
        stub: Stub,
        division: &Division,
        address: u64,
    ) -> Result<(), Obstacle> {
        // SAFETY: promised by the caller; and the quotient fits.
        unsafe {
            if !self.divides(division)? {
                let reason = "the quotient does not fit";
                return Err(Obstacle::Fault { address: address as usize, reason });
            }
            match &division.divisor {
                Divisor::Memory(operand) => self.execute(code, stub, operand, address)?,
                Divisor::Register(..) => code.stubs.execute(stub),
            }
        }
        Ok(())
    }

    pub(crate) fn zero_vectors(&mut self, all: bool) {
        for vector in &mut self.context().vector {
            vector[if all { 0 } else { 2 }..].fill(0);
        }
    }

    pub(crate) fn address(&mut self, operand: &Operand, to: u8, size: u8, narrow: bool) {
        let mut address = self.place(operand) as u64;
        if narrow {
            address &= 0xffff_ffff;
        }
        let to = &mut self.context().general[usize::from(to)];
        *to = match size {
            2 => *to & !0xffff | address & 0xffff,
            4 => address & 0xffff_ffff,
            _ => address,
        };
    }

    /// # Safety
    /// Nobody else uses the memory.
    unsafe fn value(&mut self, source: &Source) -> Result<u64, Obstacle> {
        match source {
            Source::Register(number) => Ok(self.general(usize::from(*number))),
            Source::Immediate(value) => Ok(*value),
            // SAFETY: promised by the caller.
            Source::Memory(operand) => unsafe { self.read(operand) },
        }
    }

    /// Reads an operand of at most eight bytes.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    unsafe fn read(&mut self, operand: &Operand) -> Result<u64, Obstacle> {
        let place = self.place(operand);
        let size = usize::from(operand.size).min(8);
        self.log.touch(place, size, false)?;
        let mut bytes = [0; 8];
        // SAFETY: the log has seen that the bytes are mapped.
        unsafe { std::ptr::copy_nonoverlapping(place as *const u8, bytes.as_mut_ptr(), size) };
        Ok(u64::from_le_bytes(bytes))
    }

    /// # Safety
    /// Nobody else uses the memory.
    unsafe fn push(&mut self, value: u64) -> Result<(), Obstacle> {
        let top = self.general(RSP).wrapping_sub(8);
        self.log.touch(top as usize, 8, true)?;
        // SAFETY: the log has seen that the bytes may be written.
        unsafe { (top as *mut u64).write_unaligned(value) };
        self.context().general[RSP] = top;
        Ok(())
    }

    /// # Safety
    /// Nobody else uses the memory.
    unsafe fn pop(&mut self) -> Result<u64, Obstacle> {
        let top = self.general(RSP);
        self.log.touch(top as usize, 8, false)?;
        self.context().general[RSP] = top.wrapping_add(8);
        // SAFETY: the log has seen that the bytes are mapped.
        Ok(unsafe { (top as *const u64).read_unaligned() })
    }

    /// Whether the processor can carry out a division.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    unsafe fn divides(&mut self, division: &Division) -> Result<bool, Obstacle> {
        let bits = 8 * u32::from(division.size);
        let divisor = match &division.divisor {
            Divisor::Register(number, shift) => self.general(usize::from(*number)) >> shift,
            // SAFETY: promised by the caller.
            Divisor::Memory(operand) => unsafe { self.read(operand)? },
        };
        let low = |value: u64, bits: u32| u128::from(value) & (u128::MAX >> (128 - bits));
        let divisor = low(divisor, bits);
        let dividend = match bits {
            8 => low(self.general(RAX), 16),
            _ => low(self.general(RDX), bits) << bits | low(self.general(RAX), bits),
        };
        if !division.signed {
            return Ok(divisor != 0 && dividend >> bits < divisor);
        }
        let signed = |value: u128, bits: u32| (value as i128) << (128 - bits) >> (128 - bits);
        let quotient = signed(dividend, 2 * bits).checked_div(signed(divisor, bits));
        Ok(quotient.is_some_and(|quotient| signed(quotient as u128, bits) == quotient))
    }

    pub(crate) fn syscall(&mut self, entry: &Entry) -> Result<(), Obstacle> {
        let number = self.general(RAX) as i64;
        if ![libc::SYS_sched_yield, libc::SYS_getpid, libc::SYS_gettid].contains(&number) {
            let name = Name::new("syscall");
            return Err(Obstacle::Instruction { address: entry.address as usize, name, reason: "" });
        }
        // SAFETY: these take no arguments, and change nothing.
        let result = unsafe { probe::syscall(number, [0; 6]) };
        let context = self.context();
        context.general[RAX] = result as u64;
        context.general[RCX] = entry.next;
        context.general[R11] = context.flags;
        Ok(())
    }
}

/// Copies an operand.
///
/// # Safety
/// The bytes may be read and written, and `size` is at most `LARGEST`.
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, size: usize) {
    debug_assert!(size <= LARGEST);
    // SAFETY: promised by the caller.
    unsafe {
        match size {
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            1 => to.write(from.read()),
            16 => to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned()),
            2 => to.cast::<u16>().write_unaligned(from.cast::<u16>().read_unaligned()),
            _ => std::ptr::copy_nonoverlapping(from, to, size),
        }
    }
}
