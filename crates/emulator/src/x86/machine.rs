//! The machine: runs a piece, one instruction after the other.

use std::arch::asm;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::code::Code;
use super::decode::{Action, Transfer};
use super::library::Library;
use super::step::{MODES, STATUS, Step};
use crate::block::Block;
use crate::footprint::Footprint;
use crate::host::{Enter, Host};
use crate::log::Log;
use crate::obstacle::Obstacle;
use crate::registers::{R8, R9, RAX, RCX, RDI, RDX, RSI, RSP, Registers};

/// Whether machine code can be emulated here: on x86-64 Linux, if the system gives memory that is
/// executable.
pub fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| Block::new(1, true).is_some())
}

/// The address that the segment `fs` begins at in the calling OS thread.
pub(crate) fn thread_block() -> u64 {
    let address;
    // SAFETY: the C library keeps the address of the thread's block at its beginning.
    unsafe { asm!("mov {}, fs:[0]", out(reg) address, options(nostack, readonly, preserves_flags)) };
    address
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

/// Machines that nobody uses: as many as were in use at the same time.
static KEPT: Mutex<Vec<Machine>> = Mutex::new(Vec::new());

struct Inner {
    code: Code,
    library: Library,
    /// The address that the segment `fs` begins at; 0: that of the calling OS thread.
    fs: u64,
    /// Where the stack ended when the piece began.
    floor: u64,
    /// What to fill stack with that functions have given back, if anything.
    filling: Option<u8>,
    /// The lowest end of the stack since a function has returned.
    lowest: u64,
}

/// How far below the end of its stack a function that calls no other may write.
const RED_ZONE: u64 = 128;

/// How far below the end of the stack what a function has given back is filled.
const FILLED: u64 = 4096;

impl Machine {
    /// A machine that knows no code yet.
    pub fn new() -> Machine {
        let inner = Code::new().map(|code| Inner {
            code,
            library: Library::new(),
            fs: 0,
            floor: 0,
            filling: None,
            lowest: 0,
        });
        let log = inner.as_ref().and_then(|inner| Log::new(inner.code.stubs.addresses()));
        let inner = inner.filter(|_| log.is_some());
        let footprint = log.map(Footprint::of).unwrap_or_default();
        Machine { registers: Registers::default(), footprint, inner }
    }

    /// A machine that was given back, or a new one. To make one takes longer than most pieces run.
    pub fn take() -> Machine {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut machine = kept.unwrap_or_default();
        if let Some(inner) = &mut machine.inner {
            inner.code.doubt();
        }
        machine
    }

    /// Keeps the machine for whoever takes one next, with what it has learnt of the code. That is compared with the
    /// code when it is used again.
    pub fn give_back(mut self) {
        self.begin(Registers::default());
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(self);
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
            (inner.fs, inner.floor, inner.filling) = (0, registers.general[RSP], None);
            inner.lowest = inner.floor;
            inner.code.begin();
            // SAFETY: the context is ours, and no stub runs.
            unsafe { (*inner.code.stubs.context()).vector = [[0; 4]; 16] };
        }
    }

    /// Lets the piece that has begun use thread-local storage at this address, and not that of the calling OS thread.
    pub fn use_storage(&mut self, address: usize) {
        if let Some(inner) = &mut self.inner {
            inner.fs = address as u64;
        }
    }

    /// Lets stack that functions of the piece give back hold this byte. What code then copies from there means nothing: it
    /// differs if the byte does.
    pub fn fill_stack(&mut self, byte: u8) {
        if let Some(inner) = &mut self.inner {
            inner.filling = Some(byte);
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
        if inner.fs == 0 {
            inner.fs = thread_block();
        }
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

    /// What the piece has touched, without those parts of the stack that were given back since they were written: what
    /// they hold means nothing, and a function that has its frame there may have left gaps.
    pub fn defined_footprint(&self) -> Footprint {
        self.footprint.defined()
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
        let mut top = step.general(RSP);
        loop {
            let new = step.general(RSP);
            if new > top && new > inner.floor {
                step.log.undefine(top.max(inner.floor) as usize, new as usize)?;
            }
            top = new;
            inner.lowest = inner.lowest.min(new);
            if *rip == inner.code.stubs.nowhere() {
                return Ok(Stop::End);
            }
            *left = left.checked_sub(1).ok_or(Obstacle::Budget(budget))?;
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
                        step.divide(&inner.code, stub, &division, entry.address)?;
                    }
                    Action::Address { operand, to, size, narrow } => step.address(&operand, to, size, narrow),
                    Action::Strings(strings) => {
                        let done = strings.run(&mut *step.context, step.log)?;
                        *left = left.checked_sub(done as usize / 8).ok_or(Obstacle::Budget(budget))?;
                    }
                    Action::ZeroVectors { all } => step.zero_vectors(all),
                    Action::Syscall => step.syscall(&entry)?,
                    Action::Transfer(transfer) => {
                        let (target, entered) = step.transfer(&transfer, entry.next)?;
                        *rip = target;
                        if let (Transfer::Return(_), Some(filling)) = (&transfer, inner.filling) {
                            let end = step.general(RSP);
                            let lowest = inner.lowest.saturating_sub(RED_ZONE);
                            step.fill(lowest.max(end.saturating_sub(FILLED)), end, filling)?;
                            step.log.undefine(lowest.max(inner.floor) as usize, inner.lowest as usize)?;
                            inner.lowest = end;
                        }
                        if entered {
                            return Ok(Stop::Enter);
                        }
                    }
                    Action::Stack(stack) => step.stack(&stack, entry.address)?,
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
