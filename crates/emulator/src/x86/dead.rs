//! Registers that hold nothing any more where a call returns to.
//!
//! A register that calls preserve is *dead* there if on every way the code writes to it before it reads it. All ways
//! that the machine code may take are followed, whatever the values; what cannot be followed may read everything. So a
//! register may be found live that is dead, but not the other way round.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};

use super::probe::Probe;
use crate::dead::Dead;
use crate::log::PAGE;
use crate::registers::{R12, R13, R14, R15, RBP, RBX};

/// Bytes of an instruction at most.
const LONGEST: usize = 15;

/// Instructions that are looked at.
const BUDGET: usize = 4000;

/// The registers that a call preserves.
const PRESERVED: [usize; 6] = [RBX, RBP, R12, R13, R14, R15];

/// Which registers are dead where a call returns to this address, with the stack at `stack` then. `returns`: whether a
/// function preserves registers, and returns to where it was called from.
#[must_use]
pub fn dead_registers(address: u64, stack: usize, returns: &dyn Fn(usize) -> bool) -> Dead {
    let all = PRESERVED.iter().fold(0, |set, number| set | 1 << number);
    let mut search = Search {
        probe: Probe::new(),
        infos: InstructionInfoFactory::new(),
        returns,
        stack,
        todo: vec![Way { address, offset: 0, held: all }],
        seen: HashMap::default(),
        live: 0,
        words: Vec::new(),
        readable: Vec::new(),
    };
    for _ in 0..BUDGET {
        let Some(way) = search.todo.pop() else {
            let registers = all & !search.live;
            let words = if registers == 0 { Vec::new() } else { search.words };
            return Dead { registers, words };
        };
        search.step(way);
        if search.live == all {
            break;
        }
    }
    Dead::default()
}

/// Where the code may come to.
#[derive(Clone, Copy)]
struct Way {
    address: u64,
    /// Where the stack ends, from where it ended at first.
    offset: i64,
    /// Registers that hold what they held at first.
    held: u16,
}

struct Search<'a> {
    probe: Probe,
    infos: InstructionInfoFactory,
    returns: &'a dyn Fn(usize) -> bool,
    stack: usize,
    todo: Vec<Way>,
    /// Hashed in the same way each time: a random way would leave its trace in a thread-local of the OS thread.
    seen: HashMap<(u64, i64), u16, BuildHasherDefault<DefaultHasher>>,
    live: u16,
    words: Vec<(usize, u64)>,
    /// Pages that may be read.
    readable: Vec<usize>,
}

impl Search<'_> {
    fn step(&mut self, mut way: Way) {
        let seen = self.seen.entry((way.address, way.offset)).or_default();
        way.held &= !self.live & !*seen;
        if way.held == 0 {
            return;
        }
        *seen |= way.held;
        if self.follow(way).is_none() {
            self.live |= way.held;
        }
    }

    /// Goes one instruction on; `None`: it is not known what happens there.
    fn follow(&mut self, way: Way) -> Option<()> {
        let instruction = self.decode(way.address)?;
        let (mut reads, mut writes) = (0, 0);
        for used in self.infos.info(&instruction).used_registers() {
            let (register, bit) = (used.register(), bit(used.register()));
            match used.access() {
                OpAccess::None | OpAccess::NoMemAccess | OpAccess::CondWrite => {}
                // Writing the lower half makes the upper half zero.
                OpAccess::Write if register.size() >= 4 => writes |= bit,
                // Writing less leaves the rest, which nobody has read.
                OpAccess::Write => {}
                _ => reads |= bit,
            }
        }
        self.live |= reads & way.held;
        let held = way.held & !reads & !writes;
        let offset = way.offset;
        let next = Way { address: instruction.next_ip(), offset, held };
        match instruction.flow_control() {
            FlowControl::Next => {
                let offset = offset + moved(&instruction, &mut self.infos)?;
                self.todo.push(Way { offset, ..next });
            }
            FlowControl::UnconditionalBranch => {
                self.todo.push(Way { address: instruction.near_branch_target(), ..next });
            }
            FlowControl::ConditionalBranch => {
                if instruction.op0_kind() != OpKind::NearBranch64 {
                    return None;
                }
                self.todo.push(Way { address: instruction.near_branch_target(), ..next });
                self.todo.push(next);
            }
            FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => {
                let address = self.stack.checked_add_signed(isize::try_from(offset).ok()?)?;
                if offset < 0 || !address.is_multiple_of(8) {
                    return None;
                }
                let back = self.word(address)?;
                if !self.words.contains(&(address, back)) {
                    self.words.push((address, back));
                }
                let offset = offset + i64::from(instruction.stack_pointer_increment());
                self.todo.push(Way { address: back, offset, held });
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                let function = self.target(&instruction)?;
                if !(self.returns)(function) {
                    let behind = self.behind(function)?;
                    (self.returns)(behind).then_some(())?;
                }
                self.todo.push(next);
            }
            _ => return None,
        }
        Some(())
    }

    fn decode(&mut self, address: u64) -> Option<Instruction> {
        let at = usize::try_from(address).ok()?;
        // An instruction may end where the memory ends.
        let first = LONGEST.min(PAGE - at % PAGE);
        let len = [LONGEST, first].into_iter().find(|&len| self.is_readable(at, len))?;
        // SAFETY: the pages are mapped, and code does not change.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, len) };
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    fn word(&mut self, address: usize) -> Option<u64> {
        // SAFETY: the bytes are mapped, and no thread of the program runs.
        self.is_readable(address, 8).then(|| unsafe { (address as *const u64).read_unaligned() })
    }

    /// Whether bytes may be read; pages are asked about once.
    fn is_readable(&mut self, address: usize, len: usize) -> bool {
        [address, address.saturating_add(len - 1)].into_iter().all(|byte| {
            let page = byte - byte % PAGE;
            self.readable.contains(&page) || {
                let readable = self.probe.readable(page);
                self.readable.extend(readable.then_some(page));
                readable
            }
        })
    }

    /// The function that an instruction calls or jumps to, if that does not depend on registers.
    fn target(&mut self, instruction: &Instruction) -> Option<usize> {
        let place = match instruction.op0_kind() {
            OpKind::NearBranch64 => return usize::try_from(instruction.near_branch_target()).ok(),
            OpKind::Memory if instruction.memory_index() == Register::None => {
                let is_fixed = matches!(instruction.memory_base(), Register::None | Register::RIP);
                is_fixed.then(|| instruction.memory_displacement64())?
            }
            _ => return None,
        };
        let segment = match instruction.segment_prefix() {
            Register::FS => super::machine::thread_block(),
            Register::GS => return None,
            _ => 0,
        };
        self.word(place.wrapping_add(segment) as usize).map(|function| function as usize)
    }

    /// Where the stub leads to that a linker has put in between.
    fn behind(&mut self, function: usize) -> Option<usize> {
        let first = self.decode(function as u64)?;
        let jump = if first.mnemonic() == Mnemonic::Endbr64 { self.decode(first.next_ip())? } else { first };
        if jump.code() == Code::Jmp_rm64 { self.target(&jump) } else { None }
    }
}

/// The bit of a register that calls preserve, whatever part of it is meant.
fn bit(register: Register) -> u16 {
    let full = register.full_register();
    if full.is_gpr64() && PRESERVED.contains(&full.number()) { 1 << full.number() } else { 0 }
}

/// By how much an instruction moves the end of the stack, if that is known.
fn moved(instruction: &Instruction, infos: &mut InstructionInfoFactory) -> Option<i64> {
    use Mnemonic as M;
    let changes = infos.info(instruction).used_registers().iter().any(|used| {
        used.register().full_register() == Register::RSP
            && !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
    });
    if !changes {
        return Some(0);
    }
    let constant = || {
        let is_stack = instruction.op0_register() == Register::RSP;
        let kinds = [OpKind::Immediate8to64, OpKind::Immediate32to64];
        (is_stack && kinds.contains(&instruction.op1_kind())).then(|| instruction.immediate(1) as i64)
    };
    match instruction.mnemonic() {
        M::Push | M::Pop | M::Pushfq | M::Popfq if instruction.op0_register() != Register::RSP => {
            Some(i64::from(instruction.stack_pointer_increment()))
        }
        M::Add => constant(),
        M::Sub => constant().map(i64::wrapping_neg),
        M::Lea
            if instruction.memory_base() == Register::RSP && instruction.op0_register() == Register::RSP =>
        {
            let plain = instruction.memory_index() == Register::None;
            plain.then(|| instruction.memory_displacement64() as i64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::naked_asm;
    use std::cell::Cell;

    /// Where the code begins: `rbx` is written at once, `rbp` on one way only, `r12` is read, `r13` is put back on return.
    #[unsafe(naked)]
    extern "C" fn code() {
        naked_asm!(
            "mov ebx, eax",
            "test eax, eax",
            "je 2f",
            "mov rbp, rax",
            "2:",
            "lea rax, [r12 + 8]",
            "call {other}",
            "xor r14d, r14d",
            "mov r15b, 1",
            "add rsp, 8",
            "pop r13",
            "ret",
            other = sym other,
        )
    }

    extern "C" fn other() {}

    #[unsafe(naked)]
    extern "C" fn caller() {
        naked_asm!("add rbp, 1", "xor r15d, r15d", "2:", "jmp 2b")
    }

    fn names(registers: u16) -> Vec<usize> {
        PRESERVED.into_iter().filter(|&number| registers >> number & 1 == 1).collect()
    }

    #[test]
    fn a_register_is_dead_if_every_way_writes_it_first() {
        let stack = [0, 0, caller as *const () as u64, 0].map(Cell::new);
        let address = stack.as_ptr() as usize;
        let returns = |function| function == other as *const () as usize;
        let dead = dead_registers(code as *const () as u64, address, &returns);
        assert_eq!(names(dead.registers), [RBX, R13, R14, R15]);
        assert_eq!(dead.words, [(address + 16, caller as *const () as u64)]);
        // SAFETY: the words are those of the array.
        assert!(unsafe { dead.holds() });
        stack[2].set(0);
        // SAFETY: as above.
        assert!(!unsafe { dead.holds() });
    }

    #[test]
    fn what_cannot_be_followed_reads_everything() {
        let stack = [0, 0, caller as *const () as u64, 0];
        let dead = dead_registers(code as *const () as u64, stack.as_ptr() as usize, &|_| false);
        assert_eq!(names(dead.registers), [RBX]);
    }
}
