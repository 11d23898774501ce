//! Random instructions, alone and in sequences, run both ways.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use unpick_emulator::{Footprint, Machine, Registers};

use crate::random::Random;
use crate::stage::{After, MIDDLE, Stage};

const ALL_STATUS: u64 = 0x8d5;

/// Bytes that are likely to be an instruction.
fn bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    if random.below(4) == 0 {
        bytes.push(random.pick(&[0x66, 0xf2, 0xf3, 0xf0, 0x67, 0x66]));
    }
    match random.below(10) {
        0..4 => {
            if random.below(2) == 0 {
                bytes.push(0x40 + random.below(16) as u8);
            }
            bytes.push(random.next() as u8);
        }
        4..7 => {
            if random.below(2) == 0 {
                bytes.push(random.pick(&[0x66, 0xf2, 0xf3]));
            }
            if random.below(2) == 0 {
                bytes.push(0x40 + random.below(16) as u8);
            }
            bytes.push(0x0f);
            match random.below(4) {
                0 => bytes.extend([0x38, random.next() as u8]),
                1 => bytes.extend([0x3a, random.next() as u8]),
                _ => bytes.push(random.next() as u8),
            }
        }
        7 => bytes.extend([0xc5, random.next() as u8, random.next() as u8]),
        8 => {
            let map = random.below(8) as u8 * 0x20 + 1 + random.below(3) as u8;
            bytes.extend([0xc4, map, random.next() as u8, random.next() as u8]);
        }
        _ => bytes.extend(random.next().to_le_bytes()),
    }
    while bytes.len() < 15 {
        bytes.push(random.next() as u8);
    }
    bytes
}

/// An instruction at this address that does not transfer control, with a memory operand, if any, in reach.
fn instruction(random: &mut Random, stage: &Stage, address: u64) -> (Instruction, Vec<u8>) {
    loop {
        let mut bytes = bytes(random);
        let mut decoder = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        // What a segment begins with is not for us to change.
        let segment = matches!(instruction.segment_prefix(), Register::FS | Register::GS);
        let wild = bit_register(&instruction).is_some_and(|bit| {
            bit == Register::RSP || [instruction.memory_base(), instruction.memory_index()].contains(&bit)
        });
        let next = instruction.flow_control() == FlowControl::Next;
        if instruction.is_invalid() || !next || segment || wild {
            continue;
        }
        let offsets = decoder.get_constant_offsets(&instruction);
        if has_memory(&instruction) && offsets.displacement_size() == 4 {
            let target = stage.address(MIDDLE) as i64 + random.below(256) as i64 - 128;
            let displacement = match instruction.memory_base() {
                Register::RIP => (target - instruction.next_ip() as i64) as i32,
                _ => random.below(512) as i32 - 256,
            };
            let at = offsets.displacement_offset();
            bytes[at..at + 4].copy_from_slice(&displacement.to_le_bytes());
        }
        bytes.truncate(instruction.len());
        return (Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE).decode(), bytes);
    }
}

/// The register with the number of a bit, which may be far from the memory operand.
fn bit_register(instruction: &Instruction) -> Option<Register> {
    let bits = [Mnemonic::Bt, Mnemonic::Bts, Mnemonic::Btr, Mnemonic::Btc];
    let far = has_memory(instruction) && instruction.op1_kind() == OpKind::Register;
    (bits.contains(&instruction.mnemonic()) && far).then(|| instruction.op1_register().full_register())
}

fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory)
}

/// Registers with which the memory operands of an instruction are in reach.
fn registers(random: &mut Random, stage: &Stage, instruction: &Instruction) -> Registers {
    let middle = stage.address(MIDDLE);
    let mut registers = Registers::default();
    for value in &mut registers.general {
        *value = if random.below(4) == 0 { middle + random.below(512) } else { random.number() };
    }
    registers.general[4] = middle + 8 * random.below(64);
    let is_string = (0..instruction.op_count())
        .any(|at| matches!(instruction.op_kind(at), OpKind::MemorySegRSI | OpKind::MemoryESRDI));
    if is_string {
        registers.general[1] = random.below(40);
        registers.general[6] = middle + random.below(64);
        registers.general[7] = middle + random.below(64);
    }
    if let Some(register) = bit_register(instruction) {
        registers.general[register.number()] = random.below(1 << 14).wrapping_sub(1 << 13);
    }
    registers.flags = random.next() & ALL_STATUS | 0x202;
    let base = instruction.memory_base();
    if has_memory(instruction) && base.is_gpr64() {
        if instruction.memory_index() == base
            || random.below(3) != 0 && instruction.memory_index() != Register::None
        {
            registers.general[instruction.memory_index().number()] = random.below(16);
        }
        let get = |register: Register, _, _| {
            Some(if register.is_gpr64() { registers.general[register.number()] } else { 0 })
        };
        if let Some(address) = instruction.virtual_address(memory_at(instruction), 0, get) {
            let align = random.pick(&[1, 8, 32]);
            let target = (middle + random.below(256)) / align * align;
            let slot = &mut registers.general[base.number()];
            *slot = slot.wrapping_add(target.wrapping_sub(address));
        }
    }
    registers
}

fn memory_at(instruction: &Instruction) -> u32 {
    (0..instruction.op_count()).find(|&at| instruction.op_kind(at) == OpKind::Memory).unwrap()
}

fn fill(random: &mut Random, stage: &mut Stage) {
    let zero = random.below(8) == 0;
    for chunk in stage.data().chunks_mut(8) {
        let value = if zero && random.below(2) == 0 { 0 } else { random.number() };
        chunk.copy_from_slice(&value.to_le_bytes());
    }
}

/// What differs, apart from flags that may be anything.
fn difference(emulated: &After, native: &After, undefined: u64) -> Option<String> {
    for number in 0..16 {
        let (one, other) = (emulated.registers.general[number], native.registers.general[number]);
        if one != other {
            return Some(format!("register {number}: emulated {one:#x}, native {other:#x}"));
        }
    }
    let mask = ALL_STATUS & !undefined;
    let (one, other) = (emulated.registers.flags & mask, native.registers.flags & mask);
    if one != other {
        return Some(format!("flags: emulated {one:#x}, native {other:#x}"));
    }
    let at = emulated.data.iter().zip(&native.data).position(|(one, other)| one != other)?;
    Some(format!(
        "byte {at:#x} of the data: emulated {:#x}, native {:#x}",
        emulated.data[at], native.data[at]
    ))
}

/// iced's flags, as the bits of the register.
fn bits(flags: u32) -> u64 {
    use iced_x86::RflagsBits as B;
    let pairs = [(B::CF, 1), (B::PF, 4), (B::AF, 0x10), (B::ZF, 0x40), (B::SF, 0x80), (B::OF, 0x800)];
    pairs.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, bit)| bit).sum()
}

struct Fuzz {
    random: Random,
    stage: Stage,
    machine: Machine,
    followed: usize,
    /// The kinds of instructions that were followed.
    names: BTreeSet<Mnemonic>,
}

impl Fuzz {
    fn new(seed: u64) -> Fuzz {
        Fuzz {
            random: Random::new(seed),
            stage: Stage::new(),
            machine: Machine::new(),
            followed: 0,
            names: BTreeSet::new(),
        }
    }

    /// One case of so many instructions.
    fn case(&mut self, len: usize) -> Result<(), String> {
        let mut address = self.stage.next_case(&mut self.machine);
        let mut case = Vec::new();
        let mut list = Vec::new();
        while list.len() < len {
            let (instruction, bytes) = instruction(&mut self.random, &self.stage, address);
            if len > 1 && (!is_tame(&instruction) || self.cannot(&instruction)) {
                continue;
            }
            address += bytes.len() as u64;
            case.extend(bytes);
            list.push(instruction);
        }
        self.stage.set_case(&case);
        let name = format!("{:?}", list[0].code());
        for _ in 0..if len == 1 { 3 } else { 2 } {
            let mut input = registers(&mut self.random, &self.stage, &list[0]);
            if len > 1 {
                input.general[15] = self.stage.address(MIDDLE);
            }
            fill(&mut self.random, &mut self.stage);
            let before = self.stage.data().to_vec();
            let emulated = self.stage.emulate(&mut self.machine, &input);
            if self.stage.data() != before {
                return Err(format!("{case:02x?} ({name}): memory was not restored"));
            }
            let (emulated, footprint) = match emulated {
                Ok(emulated) => emulated,
                Err(obstacle) => {
                    let encoded = !obstacle.to_string().contains("another place");
                    assert!(encoded, "{case:02x?} ({name}): {obstacle}");
                    continue;
                }
            };
            let native = self.stage.run(&input);
            let mut undefined = 0;
            for instruction in &list {
                undefined &= !bits(instruction.rflags_modified() & !instruction.rflags_undefined());
                undefined |= bits(instruction.rflags_undefined());
            }
            if let Some(difference) = difference(&emulated, &native, undefined) {
                return Err(format!("{case:02x?} ({name}) with {input:x?}: {difference}"));
            }
            // SAFETY: the stage is mapped.
            let changed = unsafe { footprint.first_change() }.is_some();
            if changed != (before != native.data) {
                return Err(format!("{case:02x?} ({name}) with {input:x?}: the footprint misses a write"));
            }
            // SAFETY: what is outside of the data is the stage's own.
            unsafe { footprint.restore() };
            if let Some(difference) = self.depends_on_more(&input, &before, &native, &footprint) {
                return Err(format!("{case:02x?} ({name}) with {input:x?}: misses a read: {difference}"));
            }
            self.followed += 1;
            self.names.insert(list[0].mnemonic());
        }
        Ok(())
    }

    /// Runs the case again with other bytes wherever it is said to touch nothing: nothing else may change.
    fn depends_on_more(
        &mut self,
        input: &Registers,
        before: &[u8],
        native: &After,
        footprint: &Footprint,
    ) -> Option<String> {
        let start = self.stage.data().as_ptr() as usize;
        let mut touched = vec![false; before.len()];
        for (address, bytes) in footprint.ranges() {
            for at in address..address + bytes.len() {
                if let Some(touched) = touched.get_mut(at.wrapping_sub(start)) {
                    *touched = true;
                }
            }
        }
        let mask = self.random.next() as u8 | 1;
        for (at, byte) in self.stage.data().iter_mut().enumerate() {
            *byte = if touched[at] { before[at] } else { before[at] ^ mask };
        }
        let mut again = self.stage.run(input);
        // SAFETY: what is outside of the data is the stage's own.
        unsafe { footprint.restore() };
        for (at, byte) in again.data.iter_mut().enumerate() {
            if !touched[at] {
                *byte ^= mask;
            }
        }
        difference(&again, native, 0)
    }

    /// Whether the machine gives up on an instruction by its kind; found out as it goes.
    fn cannot(&self, instruction: &Instruction) -> bool {
        !self.names.contains(&instruction.mnemonic())
    }
}

/// Whether an instruction works wherever it is in a sequence: its memory is around r15, and it leaves
/// that and the stack pointer alone.
fn is_tame(instruction: &Instruction) -> bool {
    let memory = has_memory(instruction);
    let near = !memory
        || instruction.memory_base() == Register::RIP
        || instruction.memory_base() == Register::R15
            && instruction.memory_index() == Register::None
            && (instruction.memory_displacement64() as i64).abs() < 1024;
    if bit_register(instruction).is_some() {
        return false;
    }
    let mut infos = iced_x86::InstructionInfoFactory::new();
    let info = infos.info(instruction);
    near && info.used_memory().len() == usize::from(memory)
        && info.used_registers().iter().all(|used| {
            let register = used.register().full_register();
            register != Register::RSP
                && (register != Register::R15 || used.access() == iced_x86::OpAccess::Read)
        })
}

/// How many cases: so many, times what `EMULATOR_TIMES` says.
fn cases(number: u64) -> u64 {
    number
        * std::env::var("EMULATOR_TIMES")
            .map_or(1, |times| times.parse().expect("EMULATOR_TIMES is a number"))
}

#[test]
fn single_instructions_do_what_they_do_natively() {
    let seed = Random::seed();
    let mut fuzz = Fuzz::new(seed);
    for _ in 0..cases(30_000) {
        fuzz.case(1).unwrap_or_else(|error| panic!("EMULATOR_SEED={seed}: {error}"));
    }
    assert!(fuzz.followed as u64 > cases(30_000), "EMULATOR_SEED={seed}: only {} cases", fuzz.followed);
}

#[test]
fn sequences_do_what_they_do_natively() {
    let seed = Random::seed();
    let mut fuzz = Fuzz::new(seed);
    for _ in 0..cases(5_000) {
        fuzz.case(1).unwrap_or_else(|error| panic!("EMULATOR_SEED={seed}: {error}"));
    }
    let before = fuzz.followed;
    for _ in 0..cases(1_000) {
        fuzz.case(10).unwrap_or_else(|error| panic!("EMULATOR_SEED={seed}: {error}"));
    }
    assert!(fuzz.followed - before > 250, "EMULATOR_SEED={seed}: only {} cases", fuzz.followed - before);
}
