//! Instructions with other operands: the same bytes, but for those that name memory and the stack pointer.
//!
//! The byte after the opcode, ModRM, says which register is one operand, and which register or memory is the other; what
//! follows it, down to immediates, is the address. So an instruction is put together anew from its prefixes, its opcode,
//! a changed ModRM and its immediates. That it is the wanted one is seen by decoding it.

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};

/// An instruction's bytes.
pub(crate) struct Bytes {
    bytes: [u8; 15],
    len: usize,
}

impl Bytes {
    fn new() -> Bytes {
        Bytes { bytes: [0; 15], len: 0 }
    }

    fn add(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.len..self.len + bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The number of the stack pointer in ModRM.
const STACK: u8 = 4;

/// Places where an instruction may name a register, as bits.
const REGISTER: u8 = 1;
const OTHER: u8 = 2;
const THIRD: u8 = 4;
const IN_OPCODE: u8 = 8;

/// The bytes of `wanted` at an address, made of those of an instruction that differs from it in two ways: its memory operand is
/// another one, relative to `rip`; and where it has the stack pointer, `wanted` has the register with the number `stand_in`, which is
/// one of the first four. `None` if that cannot be done.
pub(crate) fn replaced(
    bytes: &[u8],
    wanted: &Instruction,
    stand_in: Option<u8>,
    address: u64,
) -> Option<Bytes> {
    let uses_memory = (0..wanted.op_count()).any(|operand| wanted.op_kind(operand) == OpKind::Memory);
    let put = |parts: &Parts<'_>| {
        let new = if uses_memory { parts.with_memory_of(wanted, address)? } else { parts.all()? };
        is_wanted(new, wanted, address)
    };
    let parts = Parts::find(bytes)?;
    let Some(number) = stand_in else { return put(&parts) };
    // Which of the places is that of the stack pointer depends on the instruction: all are tried.
    (1..16).find_map(|places| put(&Parts::find(parts.with_register(number, places)?.as_slice())?))
}

/// The bytes, if they are those of an instruction.
fn is_wanted(bytes: Bytes, wanted: &Instruction, address: u64) -> Option<Bytes> {
    let mut decoded = Decoder::with_ip(64, bytes.as_slice(), address, DecoderOptions::NONE).decode();
    decoded.set_has_xacquire_prefix(false);
    decoded.set_has_xrelease_prefix(false);
    (decoded == *wanted && decoded.len() == bytes.len).then_some(bytes)
}

/// The parts of an instruction.
struct Parts<'a> {
    prefixes: &'a [u8],
    /// The prefix that names further registers: one byte, or two or three with the first of the opcode.
    extension: &'a [u8],
    opcode: &'a [u8],
    /// ModRM, if there is one, and what follows.
    after: &'a [u8],
}

impl Parts<'_> {
    fn find(bytes: &[u8]) -> Option<Parts<'_>> {
        let names_registers = |byte: &u8| byte & 0xf0 == 0x40;
        let is_prefix = |byte: &u8| {
            matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
                || names_registers(byte)
        };
        let all = bytes.iter().position(|byte| !is_prefix(byte))?;
        // Those that name registers count only right before the opcode.
        let last = bytes[..all].last().is_some_and(names_registers);
        let (prefixes, after) = bytes.split_at(all - usize::from(last));
        let extension = match after.first()? {
            0x40..=0x4f => 1,
            0xc5 => 2,
            0xc4 => 3,
            _ => 0,
        };
        let (extension, after) = after.split_at_checked(extension)?;
        let opcode = match after {
            [0x0f, 0x38 | 0x3a, ..] if extension.len() < 2 => 3,
            [0x0f, ..] if extension.len() < 2 => 2,
            _ => 1,
        };
        let (opcode, after) = after.split_at_checked(opcode)?;
        Some(Parts { prefixes, extension, opcode, after })
    }

    /// The instruction as it is.
    fn all(&self) -> Option<Bytes> {
        let mut all = Bytes::new();
        let mut parts = [self.prefixes, self.extension, self.opcode, self.after].into_iter();
        parts.try_for_each(|part| all.add(part))?;
        Some(all)
    }

    /// The instruction with another register in these places, in each of which it has one with the number of the stack pointer.
    fn with_register(&self, number: u8, places: u8) -> Option<Bytes> {
        let mut new = self.all()?;
        let opcode = self.prefixes.len() + self.extension.len() + self.opcode.len() - 1;
        let mut put = |at: usize, shift: u8, complement: u8| {
            let byte = new.bytes[..new.len].get_mut(at)?;
            if (*byte >> shift ^ complement) & 7 != STACK {
                return None;
            }
            *byte = *byte & !(7 << shift) | (number ^ complement) << shift;
            Some(())
        };
        if places & IN_OPCODE != 0 {
            put(opcode, 0, 0)?;
        }
        if places & REGISTER != 0 {
            put(opcode + 1, 3, 0)?;
        }
        if places & OTHER != 0 {
            put(opcode + 1, 0, 0)?;
        }
        if places & THIRD != 0 {
            // In the last byte of a longer prefix, with all bits the other way round.
            let at = (self.extension.len() > 1).then(|| opcode - self.opcode.len())?;
            put(at, 3, 7)?;
        }
        Some(new)
    }

    /// The instruction at an address, with the memory of `wanted`.
    fn with_memory_of(&self, wanted: &Instruction, address: u64) -> Option<Bytes> {
        let mut new = Bytes::new();
        for &prefix in self.prefixes {
            let names_memory = matches!(prefix, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64 | 0x65 | 0x67);
            // Before these they are hints to elide a lock, or nothing.
            let is_hint =
                matches!(prefix, 0xf2 | 0xf3) && (wanted.has_lock_prefix() || self.opcode.len() == 1);
            if !names_memory && !is_hint {
                new.add(&[prefix])?;
            }
        }
        let extension = new.len;
        new.add(self.extension)?;
        // No base and no index: in these prefixes their bits are off, or on, which means the same.
        match self.extension {
            [_] => new.bytes[extension] &= !3,
            [0xc4, ..] => new.bytes[extension + 1] |= 0x60,
            _ => {}
        }
        new.add(self.opcode)?;
        let (&mode, rest) = self.after.split_first()?;
        let rest = rest.get(address_len(mode, rest)?..)?;
        new.add(&[mode & 0o070 | 5])?;
        let end = address + (new.len + 4 + rest.len()) as u64;
        let distance = wanted.memory_displacement64().wrapping_sub(end) as i64;
        new.add(&i32::try_from(distance).ok()?.to_le_bytes())?;
        new.add(rest)?;
        Some(new)
    }
}

/// How many bytes after ModRM are those of an address.
fn address_len(mode: u8, rest: &[u8]) -> Option<usize> {
    let (way, base) = (mode >> 6, mode & 7);
    if way == 3 {
        return None;
    }
    let has_index = base == STACK;
    let base = if has_index { rest.first()? & 7 } else { base };
    let distance = match way {
        0 if base == 5 => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    Some(usize::from(has_index) + distance)
}
