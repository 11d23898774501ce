//! Instructions that are executed by the processor itself, out of line.
//!
//! A stub loads the registers that the instruction uses, and the flags, from a [`Context`], executes
//! the instruction, and stores them back. A memory operand is replaced by a scratch buffer, into which
//! the caller copies what the operand holds, and out of which it copies what was written. The context,
//! the buffer and the stubs lie in one block, so all of them are reached relative to `rip` and no
//! register is needed for it. The stack pointer is never loaded: where it is an operand, a register that
//! the instruction does not use stands in for it.
//!
//! The loads and stores are written here byte by byte; the instruction is that of the program [with other
//! operands](super::operands), and what it uses is what iced says of the instruction as it is in the stub.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};

use super::operands;
use crate::block::Block;
use crate::registers::RSP;

/// What stubs load and store.
#[repr(C, align(64))]
pub(crate) struct Context {
    /// The general registers, and a zero in place of no register.
    pub(crate) general: [u64; 17],
    pub(crate) flags: u64,
    pub(crate) vector: [[u64; 4]; 16],
}

/// The number of no register: that of the zero.
pub(crate) const NO_REGISTER: u8 = 16;

/// Where the scratch buffer is in the block: not in a cache line, nor a page, of code.
const SCRATCH: usize = 4096;
/// The largest memory operand.
pub(crate) const LARGEST: usize = 32;
/// Where stubs begin.
const CODE: usize = 3 * 4096;
/// The longest stub: sixteen registers of either kind would have room.
const STUB: usize = 512;
const SIZE: usize = 4 << 20;

/// The block with the context, the scratch buffer and the stubs.
pub(crate) struct Stubs {
    block: Block,
    /// Where the next stub goes.
    end: usize,
    /// Whether vector registers have 256 bits.
    avx: bool,
}

/// A stub, as its offset in the block.
#[derive(Clone, Copy)]
pub(crate) struct Stub(u32);

impl Stubs {
    pub(crate) fn new(avx: bool) -> Option<Stubs> {
        let block = Block::new(SIZE, true)?;
        Some(Stubs { block, end: CODE, avx })
    }

    /// An address in the block where there is never code of the program.
    pub(crate) fn nowhere(&self) -> u64 {
        self.block.start() as u64 + 2 * 4096
    }

    /// The addresses of all of it.
    pub(crate) fn addresses(&self) -> std::ops::Range<usize> {
        self.block.addresses()
    }

    pub(crate) fn context(&self) -> *mut Context {
        self.block.start().cast()
    }

    pub(crate) fn scratch(&self) -> *mut u8 {
        self.block.start().wrapping_add(SCRATCH)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.end + STUB > SIZE
    }

    pub(crate) fn clear(&mut self) {
        self.end = CODE;
    }

    /// Executes a stub.
    ///
    /// # Safety
    /// The stub is of this block, and was not cleared since. The instruction raises no exception on what
    /// is in the context and in the scratch buffer.
    #[inline]
    pub(crate) unsafe fn execute(&self, stub: Stub) {
        let entry = self.block.start().wrapping_add(stub.0 as usize);
        // SAFETY: `compile` has put a function there, which changes nothing but the context and the
        // scratch buffer, and keeps to the calling convention.
        unsafe {
            let entry: extern "sysv64" fn() = std::mem::transmute::<*mut u8, extern "sysv64" fn()>(entry);
            entry();
        }
    }

    /// Makes a stub of an instruction of these bytes; the reason if the instruction is not of a form for which that is right.
    pub(crate) fn compile(
        &mut self,
        instruction: &Instruction,
        bytes: &[u8],
        infos: &mut InstructionInfoFactory,
    ) -> Result<Stub, &'static str> {
        let mut inner = *instruction;
        let stand_in = stand_in(instruction, infos)?;
        rewrite(&mut inner, stand_in, self.scratch() as u64);
        let mut general = 0_u16;
        let mut vector = 0_u16;
        for used in infos.info(&inner).used_registers() {
            let register = used.register().full_register();
            if register.is_gpr64() && register != Register::RSP {
                general |= 1 << register.number();
            } else if register.is_zmm() && register.number() < 16 {
                vector |= 1 << register.number();
            } else {
                return Err("uses registers of another kind");
            }
        }
        let slot = |number: usize| if stand_in.is_some_and(|s| s.number() == number) { RSP } else { number };
        let flags = inner.rflags_read() | inner.rflags_modified() != 0 || is_shift(inner.mnemonic());
        let start = self.end;
        let mut out = Emitter { stubs: self, at: start };
        let numbers = |set: u16| (0..16_usize).filter(move |number| set >> number & 1 == 1);
        let kept = |number: &usize| matches!(number, 3 | 5 | 12..=15);
        numbers(general).filter(kept).for_each(|number| out.push(number));
        numbers(vector).for_each(|number| out.move_vector(number, false));
        if flags {
            out.load_flags();
        }
        numbers(general).for_each(|number| out.move_general(number, slot(number), false));
        out.instruction(bytes, stand_in, &inner)?;
        numbers(general).for_each(|number| out.move_general(number, slot(number), true));
        if flags {
            out.store_flags();
        }
        numbers(vector).for_each(|number| out.move_vector(number, true));
        if vector != 0 {
            out.leave_vectors();
        }
        numbers(general).rev().filter(kept).for_each(|number| out.pop(number));
        out.bytes(&[0xc3]);
        self.end = out.at.next_multiple_of(16);
        Ok(Stub(u32::try_from(start).expect("the block is smaller")))
    }
}

/// A register to stand in for the stack pointer, if that is an operand.
fn stand_in(
    instruction: &Instruction,
    infos: &mut InstructionInfoFactory,
) -> Result<Option<Register>, &'static str> {
    let mut needed = false;
    for operand in 0..instruction.op_count() {
        if instruction.op_kind(operand) == OpKind::Register {
            let register = instruction.op_register(operand);
            if !(register.is_gpr() || register.is_xmm() || register.is_ymm()) {
                return Err("uses registers of another kind");
            }
            needed |= register.full_register() == Register::RSP;
        }
    }
    if !needed {
        return Ok(None);
    }
    // These have names for their low bytes that need no prefix.
    let candidates = [Register::RAX, Register::RCX, Register::RDX, Register::RBX];
    let used = infos.info(instruction).used_registers();
    let free = |register: &&Register| used.iter().all(|u| u.register().full_register() != **register);
    candidates.iter().find(free).copied().map(Some).ok_or("uses the stack pointer among many registers")
}

/// Puts the stand-in in place of the stack pointer, and the scratch buffer in place of memory.
fn rewrite(instruction: &mut Instruction, stand_in: Option<Register>, scratch: u64) {
    for operand in 0..instruction.op_count() {
        match (instruction.op_kind(operand), stand_in) {
            (OpKind::Memory, _) => {
                instruction.set_segment_prefix(Register::None);
                instruction.set_memory_base(Register::RIP);
                instruction.set_memory_index(Register::None);
                instruction.set_memory_index_scale(1);
                instruction.set_memory_displ_size(8);
                instruction.set_memory_displacement64(scratch);
            }
            (OpKind::Register, Some(stand_in)) => {
                let register = instruction.op_register(operand);
                if register.full_register() == Register::RSP {
                    instruction.set_op_register(operand, part(stand_in, register));
                }
            }
            _ => {}
        }
    }
    instruction.set_has_xacquire_prefix(false);
    instruction.set_has_xrelease_prefix(false);
}

/// The part of a register among the first four that is as large as `like`, a part of the stack pointer.
fn part(register: Register, like: Register) -> Register {
    let first = match like {
        Register::SPL => Register::AL,
        Register::SP => Register::AX,
        Register::ESP => Register::EAX,
        _ => Register::RAX,
    };
    first + register.number() as u32
}

/// Shifts by a number of bits for which iced says that no flag changes; processors may change some that
/// are undefined.
fn is_shift(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Rcl, Rcr, Rol, Ror, Sal, Sar, Shl, Shld, Shr, Shrd};
    matches!(mnemonic, Rcl | Rcr | Rol | Ror | Sal | Sar | Shl | Shld | Shr | Shrd)
}

/// Writes machine code to the end of the block.
struct Emitter<'a> {
    stubs: &'a mut Stubs,
    at: usize,
}

impl Emitter<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        assert!(self.at + bytes.len() <= SIZE, "a stub is longer than thought");
        // SAFETY: it is within the block, as was just seen, and behind all code that is in use.
        unsafe {
            let place = self.stubs.block.start().add(self.at);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
        }
        self.at += bytes.len();
    }

    /// An instruction whose last four bytes are the distance to a place in the context.
    fn with_place(&mut self, bytes: &[u8], place: usize) {
        self.bytes(bytes);
        let from = i32::try_from(self.at + 4).expect("the block is smaller");
        let to = i32::try_from(place).expect("the context is small");
        self.bytes(&(to - from).to_le_bytes());
    }

    fn push(&mut self, number: usize) {
        let low = 0x50 + (number & 7) as u8;
        if number < 8 { self.bytes(&[low]) } else { self.bytes(&[0x41, low]) }
    }

    fn pop(&mut self, number: usize) {
        let low = 0x58 + (number & 7) as u8;
        if number < 8 { self.bytes(&[low]) } else { self.bytes(&[0x41, low]) }
    }

    /// Moves a general register from, or to, its slot.
    fn move_general(&mut self, number: usize, slot: usize, store: bool) {
        let prefix = 0x48 | if number < 8 { 0 } else { 4 };
        let code = if store { 0x89 } else { 0x8b };
        let place = std::mem::offset_of!(Context, general) + 8 * slot;
        self.with_place(&[prefix, code, rip_relative(number)], place);
    }

    /// Moves a vector register from, or to, the context.
    fn move_vector(&mut self, number: usize, store: bool) {
        let place = std::mem::offset_of!(Context, vector) + 32 * number;
        let code = rip_relative(number);
        match (self.stubs.avx, number < 8) {
            (true, low) => {
                let prefix = if low { 0xfe } else { 0x7e };
                self.with_place(&[0xc5, prefix, if store { 0x7f } else { 0x6f }, code], place);
            }
            (false, true) => self.with_place(&[0x0f, if store { 0x11 } else { 0x10 }, code], place),
            (false, false) => self.with_place(&[0x44, 0x0f, if store { 0x11 } else { 0x10 }, code], place),
        }
    }

    /// Full vector registers make code that follows slow.
    fn leave_vectors(&mut self) {
        if self.stubs.avx {
            self.bytes(&[0xc5, 0xf8, 0x77]);
        }
    }

    /// `push [flags]; popfq`.
    fn load_flags(&mut self) {
        self.with_place(&[0xff, 0x35], std::mem::offset_of!(Context, flags));
        self.bytes(&[0x9d]);
    }

    /// `pushfq; pop [flags]`.
    fn store_flags(&mut self) {
        self.bytes(&[0x9c]);
        self.with_place(&[0x8f, 0x05], std::mem::offset_of!(Context, flags));
    }

    /// The instruction of these bytes, with a stand-in for the stack pointer and the scratch buffer for memory, which is
    /// then `inner`.
    fn instruction(
        &mut self,
        bytes: &[u8],
        stand_in: Option<Register>,
        inner: &Instruction,
    ) -> Result<(), &'static str> {
        let address = self.stubs.block.start() as u64 + self.at as u64;
        let stand_in = stand_in.map(|register| register.number() as u8);
        let there = operands::replaced(bytes, inner, stand_in, address);
        self.bytes(there.ok_or("cannot be encoded in another place")?.as_slice());
        Ok(())
    }
}

/// The byte that says: this register, and memory relative to `rip`.
fn rip_relative(number: usize) -> u8 {
    ((number & 7) as u8) << 3 | 5
}
