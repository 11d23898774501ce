//! The machine: runs a piece, one instruction after the other.

use std::arch::asm;
use std::fmt;
use std::sync::OnceLock;

use super::code::Code;
use super::decode::{Action, Division, Divisor, Operand, Source, is_met};
use super::library::Library;
use super::probe;
use super::stub::{Context, LARGEST, NO_REGISTER, Stub};
use crate::block::Block;
use crate::footprint::Footprint;
use crate::host::{Enter, Host};
use crate::log::Log;
use crate::obstacle::{Name, Obstacle};
use crate::registers::{R8, R9, R11, RAX, RBP, RCX, RDI, RDX, RSI, RSP, Registers};

/// Carry, parity, adjust, zero, sign and overflow.
const STATUS: u64 = 0x8d5;
/// Flags that change how instructions work: trap, direction, nested task, alignment check.
const MODES: u64 = 0x100 | 0x400 | 0x4000 | 0x4_0000;

/// Whether machine code can be emulated here: on x86-64 Linux, if the system gives memory that is
/// executable.
pub fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| Block::new(1, true).is_some())
}

/// A processor that runs pieces of the program's code in place, and notes what they touch.
///
/// It keeps what it has learnt of the code: use one again.
pub struct Machine {
    /// The registers: while a host is asked, and after a run.
    pub registers: Registers,
    footprint: Footprint,
    /// None where it is not supported.
    inner: Option<Inner>,
}

struct Inner {
    code: Code,
    library: Library,
    /// The address that the segment `fs` begins at.
    fs: u64,
    /// Where the running instruction is, for obstacles.
    address: u64,
}

impl Machine {
    /// A machine that knows no code yet.
    pub fn new() -> Machine {
        let inner = Code::new().map(|code| Inner { code, library: Library::new(), fs: 0, address: 0 });
        let log = inner.as_ref().and_then(|inner| Log::new(inner.code.stubs.addresses()));
        let inner = inner.filter(|_| log.is_some());
        let footprint = log.map(Footprint::of).unwrap_or_default();
        Machine { registers: Registers::default(), footprint, inner }
    }

    /// Forgets the code that it has met. It is needed when code has changed.
    pub fn forget_code(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.code.forget();
        }
    }

    /// Begins a new piece at these registers. Its footprint is empty, and the vector registers are zero.
    pub fn begin(&mut self, registers: Registers) {
        self.registers = registers;
        if let Some(log) = self.footprint.log_mut() {
            log.clear();
        }
        if let Some(inner) = &mut self.inner {
            // SAFETY: the context is ours, and no stub runs.
            unsafe { (*inner.code.stubs.context()).vector = [[0; 4]; 16] };
        }
    }

    /// Runs until the host ends it, or until so many instructions were executed.
    ///
    /// # Safety
    /// The memory that the code uses is used by nobody else meanwhile: not by another thread, and not by
    /// the caller, whose stack is another one than that of the code. What the code does to memory is put
    /// back, by [`Footprint::restore`], before anything else of the program runs or allocates.
    ///
    /// # Errors
    /// If it could not be followed to its end.
    pub unsafe fn run(&mut self, host: &mut dyn Host, budget: usize) -> Result<(), Obstacle> {
        let Some(inner) = &mut self.inner else { return Err(Obstacle::Unsupported) };
        let mut control = 0_u32;
        // SAFETY: the C library keeps the address of the thread's block at its beginning.
        unsafe { asm!("mov {}, fs:[0]", out(reg) inner.fs, options(nostack, readonly, preserves_flags)) };
        // SAFETY: it stores the control word of the vector unit.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags)) };
        if control & 0x1f80 != 0x1f80 {
            return Err(Obstacle::State("floating point exceptions are not masked"));
        }
        if self.registers.flags & MODES != 0 {
            return Err(Obstacle::State("the direction flag, or another one that changes the mode, is set"));
        }
        self.load();
        // SAFETY: promised by the caller.
        let result = unsafe { self.steps(host, budget) };
        // SAFETY: the word was stored above.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags)) };
        result
    }

    /// Begins a piece at a function with these arguments, at most six, and runs it until it returns.
    /// Gives what is in `rax` then.
    ///
    /// # Safety
    /// As for [`Machine::run`]; and `stack_top` is the end of memory that serves as the stack.
    ///
    /// # Errors
    /// If it could not be followed to its end.
    pub unsafe fn call(
        &mut self,
        function: usize,
        arguments: &[u64],
        stack_top: usize,
        host: &mut dyn Host,
        budget: usize,
    ) -> Result<u64, Obstacle> {
        assert!(arguments.len() <= 6, "more arguments would go to the stack");
        let mut registers = Registers { rip: function as u64, flags: 0x202, ..Registers::default() };
        for (&number, &argument) in [RDI, RSI, RDX, RCX, R8, R9].iter().zip(arguments) {
            registers.general[number] = argument;
        }
        registers.general[RSP] = (stack_top as u64 & !15) - 8;
        self.begin(registers);
        let nowhere = self.inner.as_ref().ok_or(Obstacle::Unsupported)?.code.stubs.nowhere();
        let place = registers.general[RSP] as usize;
        self.touch(place, 8, true)?;
        // SAFETY: the log has seen that it may be written; and it is the stack of the piece.
        unsafe { (place as *mut u64).write_unaligned(nowhere) };
        // SAFETY: promised by the caller.
        unsafe { self.run(host, budget)? };
        Ok(self.registers.general[RAX])
    }

    /// The host is about to read or write these bytes on the code's behalf: notes what they hold.
    ///
    /// # Errors
    /// If they are not mapped.
    pub fn touch(&mut self, address: usize, size: usize, writes: bool) -> Result<(), Obstacle> {
        self.log().touch(address, size, writes)
    }

    /// What the piece has touched so far.
    pub fn footprint(&self) -> &Footprint {
        &self.footprint
    }

    /// Takes the footprint out; that of the machine is empty then.
    pub fn take_footprint(&mut self) -> Footprint {
        let footprint = self.footprint.compact();
        if let Some(log) = self.footprint.log_mut() {
            log.clear();
        }
        footprint
    }

    fn log(&mut self) -> &mut Log {
        self.footprint.log_mut().expect("a machine that runs has a log")
    }

    fn inner(&mut self) -> &mut Inner {
        self.inner.as_mut().expect("a machine that runs has all its parts")
    }

    /// Puts the registers where stubs find them.
    fn load(&mut self) {
        let registers = self.registers;
        let context = self.inner().code.stubs.context();
        // SAFETY: the context is ours, and no stub runs.
        unsafe {
            (&mut (*context).general)[..16].copy_from_slice(&registers.general);
            (*context).flags = registers.flags & STATUS | 0x202;
        }
    }

    /// Takes the registers from where stubs leave them.
    fn save(&mut self) {
        let context = self.inner().code.stubs.context();
        // SAFETY: the context is ours, and no stub runs.
        unsafe {
            self.registers.general.copy_from_slice(&(&(*context).general)[..16]);
            self.registers.flags = (*context).flags;
        }
    }

    /// # Safety
    /// As for `run`.
    unsafe fn steps(&mut self, host: &mut dyn Host, budget: usize) -> Result<(), Obstacle> {
        let mut left = budget;
        loop {
            // SAFETY: as promised by the caller.
            let stop = unsafe { self.stretch(&mut left, budget) };
            self.save();
            match stop? {
                Stop::End => return Ok(()),
                // SAFETY: as promised by the caller.
                Stop::Enter => match unsafe { self.enter(host)? } {
                    true => return Ok(()),
                    false => self.load(),
                },
            }
        }
    }

    /// Asks what becomes of control that has entered a place. Whether the piece ends.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn enter(&mut self, host: &mut dyn Host) -> Result<bool, Obstacle> {
        let value = match host.enter(self) {
            Enter::End => return Ok(true),
            Enter::GiveUp(reason) => return Err(Obstacle::Host(reason)),
            Enter::Return(value) => Some(value),
            Enter::Code => {
                let Some(inner) = &mut self.inner else { return Err(Obstacle::Unsupported) };
                let Some(log) = self.footprint.log_mut() else { return Err(Obstacle::Unsupported) };
                // SAFETY: as promised by the caller.
                unsafe { inner.library.call(self.registers.rip, &self.registers.general, log)? }
            }
        };
        if let Some(value) = value {
            let top = self.registers.general[RSP];
            self.touch(top as usize, 8, false)?;
            // SAFETY: the log has seen that it is mapped.
            self.registers.rip = unsafe { (top as *const u64).read_unaligned() };
            self.registers.general[RSP] = top.wrapping_add(8);
            self.registers.general[RAX] = value;
        }
        Ok(false)
    }

    /// Runs until the host is to be asked, or the function has returned that `call` has called.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn stretch(&mut self, left: &mut usize, budget: usize) -> Result<Stop, Obstacle> {
        let rip = &mut self.registers.rip;
        let Some(inner) = &mut self.inner else { return Err(Obstacle::Unsupported) };
        let Some(log) = self.footprint.log_mut() else { return Err(Obstacle::Unsupported) };
        let mut step = Step { context: inner.code.stubs.context(), log, fs: inner.fs };
        loop {
            if *rip == inner.code.stubs.nowhere() {
                return Ok(Stop::End);
            }
            *left = left.checked_sub(1).ok_or(Obstacle::Budget(budget))?;
            inner.address = *rip;
            let entry = *inner.code.at(*rip)?;
            *rip = entry.next;
            // SAFETY: the memory is promised by the caller of `run`; the stubs are those of the entry.
            unsafe {
                match entry.action {
                    Action::Nothing => {}
                    Action::Stub(stub) => inner.code.stubs.execute(stub),
                    Action::StubMemory(stub, operand) => {
                        step.execute(&inner.code, stub, &operand, entry.address)?;
                    }
                    Action::StubBit(stub, operand, number) => {
                        step.execute_bit(&inner.code, stub, &operand, usize::from(number), entry.address)?;
                    }
                    Action::Divide(stub, division) => {
                        if !step.divides(&division)? {
                            let reason = "the quotient does not fit";
                            return Err(Obstacle::Fault { address: entry.address as usize, reason });
                        }
                        match division.divisor {
                            Divisor::Memory(operand) => {
                                step.execute(&inner.code, stub, &operand, entry.address)?;
                            }
                            Divisor::Register(..) => inner.code.stubs.execute(stub),
                        }
                    }
                    Action::Address { operand, to, size, narrow } => step.address(&operand, to, size, narrow),
                    Action::JumpIf(condition, target) => {
                        if is_met(condition, step.context().flags) {
                            *rip = target;
                        }
                    }
                    Action::JumpIfZero(target) => {
                        if step.general(RCX) == 0 {
                            *rip = target;
                        }
                    }
                    Action::Loop(zero, target) => {
                        let count = step.general(RCX).wrapping_sub(1);
                        step.context().general[RCX] = count;
                        let is_zero = step.context().flags & 0x40 != 0;
                        if count != 0 && zero.is_none_or(|zero| zero == is_zero) {
                            *rip = target;
                        }
                    }
                    Action::Jump(target) => {
                        *rip = target;
                        return Ok(Stop::Enter);
                    }
                    Action::JumpTo(source) => {
                        *rip = step.value(&source)?;
                        return Ok(Stop::Enter);
                    }
                    Action::Call(target) => {
                        step.push(entry.next)?;
                        *rip = target;
                        return Ok(Stop::Enter);
                    }
                    Action::CallTo(source) => {
                        let target = step.value(&source)?;
                        step.push(entry.next)?;
                        *rip = target;
                        return Ok(Stop::Enter);
                    }
                    Action::Return(more) => {
                        *rip = step.pop()?;
                        let top = &mut step.context().general[RSP];
                        *top = top.wrapping_add(u64::from(more));
                    }
                    Action::Push(source) => {
                        let value = step.value(&source)?;
                        step.push(value)?;
                    }
                    Action::PushFlags => {
                        let flags = step.context().flags;
                        step.push(flags)?;
                    }
                    Action::PopFlags => {
                        let flags = step.pop()?;
                        if flags & MODES != 0 {
                            let name = Name::new("popfq");
                            let reason = "sets a flag that changes the mode";
                            return Err(Obstacle::Instruction {
                                address: entry.address as usize,
                                name,
                                reason,
                            });
                        }
                        step.context().flags = flags & STATUS | 0x202;
                    }
                    Action::PopRegister(number) => {
                        let value = step.pop()?;
                        step.context().general[usize::from(number)] = value;
                    }
                    Action::PopMemory(operand) => {
                        // An address that is relative to the stack pointer is so to what it is after.
                        let value = step.pop()?;
                        let address = step.place(&operand);
                        step.log.touch(address, 8, true)?;
                        (address as *mut u64).write_unaligned(value);
                    }
                    Action::Leave => {
                        let frame = step.general(RBP);
                        step.context().general[RSP] = frame;
                        let value = step.pop()?;
                        step.context().general[RBP] = value;
                    }
                    Action::Enter(size) => {
                        let frame = step.general(RBP);
                        step.push(frame)?;
                        let top = step.general(RSP);
                        step.context().general[RBP] = top;
                        step.context().general[RSP] = top.wrapping_sub(u64::from(size));
                    }
                    Action::Strings(strings) => {
                        let done = strings.run(&mut *step.context, step.log)?;
                        *left = left.checked_sub(done as usize / 8).ok_or(Obstacle::Budget(budget))?;
                    }
                    Action::ZeroVectors { all } => {
                        for vector in &mut step.context().vector {
                            vector[if all { 0 } else { 2 }..].fill(0);
                        }
                    }
                    Action::Syscall => step.syscall(&entry)?,
                }
            }
        }
    }
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::new()
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("registers", &self.registers).finish_non_exhaustive()
    }
}

/// Why a stretch has ended.
enum Stop {
    Enter,
    End,
}

/// What an instruction works on.
struct Step<'a> {
    context: *mut Context,
    log: &'a mut Log,
    fs: u64,
}

impl Step<'_> {
    #[inline]
    fn context(&mut self) -> &mut Context {
        // SAFETY: the context is the machine's, which is borrowed, and no stub runs.
        unsafe { &mut *self.context }
    }

    #[inline]
    fn general(&mut self, number: usize) -> u64 {
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
    unsafe fn execute(
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
    unsafe fn execute_bit(
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

    fn address(&mut self, operand: &Operand, to: u8, size: u8, narrow: bool) {
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

    fn syscall(&mut self, entry: &super::code::Entry) -> Result<(), Obstacle> {
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
