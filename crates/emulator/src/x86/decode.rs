//! What is to be done for an instruction, found once when it is first met.
//!
//! By hand: control flow, the stack, string instructions, and what has no effect here. All else becomes
//! a stub if it is known to depend on nothing but registers, flags and its memory operand: of the basic
//! instructions those that are listed, of the extensions those that the processor has, apart from the
//! few that have other effects. Whatever is left is given up.

use iced_x86::{
    Code, ConditionCode, CpuidFeature, Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess,
    OpKind, Register,
};

use super::strings::{Repeat, StringOp, Strings};
use super::stub::{LARGEST, NO_REGISTER, Stub, Stubs};

/// A memory operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) displacement: u64,
    pub(crate) base: u8,
    pub(crate) index: u8,
    /// How far the index is shifted.
    pub(crate) shift: u8,
    /// Whether it is relative to the `fs` register.
    pub(crate) fs: bool,
    /// In bytes.
    pub(crate) size: u8,
    /// Whether it may be written.
    pub(crate) writes: bool,
    /// The address must be a multiple of this.
    pub(crate) align: u8,
}

/// Where a value comes from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Register(u8),
    Memory(Operand),
    Immediate(u64),
}

/// How a divisor is read.
#[derive(Clone, Copy)]
pub(crate) struct Division {
    pub(crate) divisor: Divisor,
    /// In bytes.
    pub(crate) size: u8,
    pub(crate) signed: bool,
}

/// Where a divisor is.
#[derive(Clone, Copy)]
pub(crate) enum Divisor {
    /// A register, and how far its value is shifted up in it.
    Register(u8, u8),
    Memory(Operand),
}

/// What is to be done for an instruction.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    Nothing,
    Stub(Stub),
    StubMemory(Stub, Operand),
    /// A stub for the bit with the number that is in a register, counted from the operand.
    StubBit(Stub, Operand, u8),
    /// A stub, if the division does not overflow.
    Divide(Stub, Division),
    /// The address, cut to so many bytes, goes to a register.
    Address {
        operand: Operand,
        to: u8,
        size: u8,
        narrow: bool,
    },
    Transfer(Transfer),
    Stack(Stack),
    Strings(Strings),
    /// Zeroes the upper halves of all vector registers, or all of them.
    ZeroVectors {
        all: bool,
    },
    Syscall,
}

/// A transfer of control.
#[derive(Clone, Copy)]
pub(crate) enum Transfer {
    Jump(Source),
    /// If the condition, by its number in the encoding, is met; and whether the jump may be to another
    /// function.
    JumpIf(u8, u64, bool),
    /// If `rcx` is zero.
    JumpIfZero(u64),
    /// Counts `rcx` down, and jumps unless it is zero, and if the zero flag is as given.
    Loop(Option<bool>, u64),
    Call(Source),
    /// And so many bytes more are taken off the stack.
    Return(u16),
}

/// A use of the stack.
#[derive(Clone, Copy)]
pub(crate) enum Stack {
    Push(Source),
    PushFlags,
    PopFlags,
    PopRegister(u8),
    PopMemory(Operand),
    Leave,
    Enter(u16),
}

/// The extensions that this processor has, of those that are followed.
pub(crate) struct Features {
    list: [CpuidFeature; 24],
    len: usize,
}

impl Features {
    pub(crate) fn new() -> Features {
        let mut features = Features { list: [CpuidFeature::X64; 24], len: 0 };
        macro_rules! detect {
            ($($name:tt $feature:ident)*) => {
                $(if std::is_x86_feature_detected!($name) { features.add(CpuidFeature::$feature); })*
            };
        }
        features.add(CpuidFeature::SSE);
        features.add(CpuidFeature::SSE2);
        features.add(CpuidFeature::CMOV);
        features.add(CpuidFeature::CX8);
        detect! {
            "sse3" SSE3 "ssse3" SSSE3 "sse4.1" SSE4_1 "sse4.2" SSE4_2 "avx" AVX "avx2" AVX2 "fma" FMA
            "f16c" F16C "bmi1" BMI1 "bmi2" BMI2 "lzcnt" LZCNT "popcnt" POPCNT "movbe" MOVBE "adx" ADX
            "aes" AES "pclmulqdq" PCLMULQDQ "sha" SHA "cmpxchg16b" CMPXCHG16B
        }
        features
    }

    fn add(&mut self, feature: CpuidFeature) {
        self.list[self.len] = feature;
        self.len += 1;
    }

    pub(crate) fn has(&self, feature: CpuidFeature) -> bool {
        self.list[..self.len].contains(&feature)
    }

    /// Whether all that an instruction needs is there, and whether that is more than the basic set.
    fn cover(&self, instruction: &Instruction) -> (bool, bool) {
        let mut extended = false;
        for &feature in instruction.cpuid_features() {
            match feature {
                CpuidFeature::INTEL8086
                | CpuidFeature::INTEL186
                | CpuidFeature::INTEL386
                | CpuidFeature::INTEL486
                | CpuidFeature::X64 => {}
                feature if self.has(feature) => extended = true,
                _ => return (false, true),
            }
        }
        (true, extended)
    }
}

/// What is to be done for this instruction, of these bytes; the reason if it is not known.
pub(crate) fn decode(
    instruction: &Instruction,
    bytes: &[u8],
    features: &Features,
    stubs: &mut Stubs,
    infos: &mut InstructionInfoFactory,
) -> Result<Action, &'static str> {
    if instruction.mnemonic() == Mnemonic::Pause && instruction.len() != 2 {
        // With a prefix that extends registers, processors take it for an exchange.
        return Err("has an odd prefix");
    }
    if let Some(action) = no_effect(instruction) {
        return Ok(action);
    }
    if instruction.code() == Code::Syscall {
        return Ok(Action::Syscall);
    }
    if let Some(transfer) = control_flow(instruction)? {
        return Ok(Action::Transfer(transfer));
    }
    if let Some(stack) = stack(instruction)? {
        return Ok(Action::Stack(stack));
    }
    if let Some(strings) = strings(instruction)? {
        return Ok(Action::Strings(strings));
    }
    match instruction.mnemonic() {
        Mnemonic::Lea => return address(instruction),
        Mnemonic::Vzeroupper if features.has(CpuidFeature::AVX) => {
            return Ok(Action::ZeroVectors { all: false });
        }
        Mnemonic::Vzeroall if features.has(CpuidFeature::AVX) => {
            return Ok(Action::ZeroVectors { all: true });
        }
        _ => {}
    }
    if instruction.is_privileged() || instruction.is_stack_instruction() {
        return Err("");
    }
    let (covered, extended) = features.cover(instruction);
    if !covered || !(extended || is_listed(instruction.mnemonic())) || is_excluded(instruction) {
        return Err("");
    }
    let operand = memory_operand(instruction, infos)?;
    let stub = stubs.compile(instruction, bytes, infos)?;
    if let Some(division) = division(instruction, operand)? {
        return Ok(Action::Divide(stub, division));
    }
    Ok(match operand {
        None => Action::Stub(stub),
        Some(operand) => match bit_number(instruction) {
            None => Action::StubMemory(stub, operand),
            Some(number) => Action::StubBit(stub, operand, number),
        },
    })
}

/// The register with the number of a bit, if the instruction addresses a bit that may be far from its
/// memory operand.
fn bit_number(instruction: &Instruction) -> Option<u8> {
    let bits = [Mnemonic::Bt, Mnemonic::Bts, Mnemonic::Btr, Mnemonic::Btc];
    let is_register = instruction.op1_kind() == OpKind::Register;
    (bits.contains(&instruction.mnemonic()) && is_register)
        .then(|| instruction.op1_register().full_register().number() as u8)
}

fn no_effect(instruction: &Instruction) -> Option<Action> {
    use Mnemonic::{
        Endbr32, Endbr64, Lfence, Mfence, Nop, Pause, Prefetchnta, Prefetcht0, Prefetcht1, Prefetcht2,
        Prefetchw, Sfence,
    };
    matches!(
        instruction.mnemonic(),
        Nop | Endbr32
            | Endbr64
            | Pause
            | Lfence
            | Mfence
            | Sfence
            | Prefetchnta
            | Prefetcht0
            | Prefetcht1
            | Prefetcht2
            | Prefetchw
    )
    .then_some(Action::Nothing)
}

fn control_flow(instruction: &Instruction) -> Result<Option<Transfer>, &'static str> {
    let target = instruction.near_branch_target();
    Ok(Some(match instruction.code() {
        Code::Jmp_rel8_64 | Code::Jmp_rel32_64 => Transfer::Jump(Source::Immediate(target)),
        Code::Call_rel32_64 => Transfer::Call(Source::Immediate(target)),
        Code::Jmp_rm64 => Transfer::Jump(source(instruction)?),
        Code::Call_rm64 => Transfer::Call(source(instruction)?),
        Code::Retnq => Transfer::Return(0),
        Code::Retnq_imm16 => Transfer::Return(instruction.immediate16()),
        Code::Jrcxz_rel8_64 => Transfer::JumpIfZero(target),
        Code::Loop_rel8_64_RCX => Transfer::Loop(None, target),
        Code::Loope_rel8_64_RCX => Transfer::Loop(Some(true), target),
        Code::Loopne_rel8_64_RCX => Transfer::Loop(Some(false), target),
        _ if instruction.is_jcc_short_or_near() && instruction.op0_kind() == OpKind::NearBranch64 => {
            // Compilers make conditional calls at the end of a function of these; those need the long form.
            let far = !instruction.is_jcc_short();
            Transfer::JumpIf(condition(instruction.condition_code()).ok_or("")?, target, far)
        }
        _ if instruction.flow_control() != iced_x86::FlowControl::Next => return Err(""),
        _ => return Ok(None),
    }))
}

/// The number of a condition in the encoding.
fn condition(code: ConditionCode) -> Option<u8> {
    use ConditionCode::{a, ae, b, be, e, g, ge, l, le, ne, no, np, ns, o, p, s};
    let order = [o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g];
    order.iter().position(|&other| other == code).map(|number| number as u8)
}

/// Whether a condition holds with these flags.
pub(crate) fn is_met(condition: u8, flags: u64) -> bool {
    let (carry, parity, zero, sign, overflow) =
        (flags & 1 != 0, flags & 4 != 0, flags & 0x40 != 0, flags & 0x80 != 0, flags & 0x800 != 0);
    let met = match condition / 2 {
        0 => overflow,
        1 => carry,
        2 => zero,
        3 => carry || zero,
        4 => sign,
        5 => parity,
        6 => sign != overflow,
        _ => zero || sign != overflow,
    };
    met != (condition % 2 == 1)
}

fn stack(instruction: &Instruction) -> Result<Option<Stack>, &'static str> {
    Ok(Some(match instruction.code() {
        Code::Push_r64 | Code::Push_rm64 => Stack::Push(source(instruction)?),
        Code::Pushq_imm8 | Code::Pushq_imm32 => Stack::Push(Source::Immediate(instruction.immediate(0))),
        Code::Pop_r64 | Code::Pop_rm64 => match source(instruction)? {
            Source::Memory(operand) => Stack::PopMemory(operand),
            Source::Register(number) => Stack::PopRegister(number),
            Source::Immediate(_) => return Err(""),
        },
        Code::Pushfq => Stack::PushFlags,
        Code::Popfq => Stack::PopFlags,
        Code::Leaveq => Stack::Leave,
        Code::Enterq_imm16_imm8 if instruction.immediate8_2nd() == 0 => {
            Stack::Enter(instruction.immediate16())
        }
        _ => return Ok(None),
    }))
}

/// The first operand, of 64 bits.
fn source(instruction: &Instruction) -> Result<Source, &'static str> {
    match instruction.op0_kind() {
        OpKind::Register if instruction.op0_register().is_gpr64() => {
            Ok(Source::Register(instruction.op0_register().number() as u8))
        }
        OpKind::Memory => place(instruction, 8).map(Source::Memory),
        _ => Err(""),
    }
}

/// The place of the memory operand.
fn place(instruction: &Instruction, size: u8) -> Result<Operand, &'static str> {
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    let number = |register: Register| match register {
        // The displacement of such an operand is the address already.
        Register::None | Register::RIP => Some(NO_REGISTER),
        register if register.is_gpr64() => Some(register.number() as u8),
        _ => None,
    };
    let (Some(base_number), Some(index_number)) = (number(base), number(index)) else {
        return Err("has an address of another size");
    };
    if base == Register::None && index == Register::None && instruction.memory_displ_size() != 8 {
        return Err("has an address of another size");
    }
    let fs = match instruction.segment_prefix() {
        Register::FS => true,
        Register::GS => return Err("uses the segment gs"),
        _ => false,
    };
    Ok(Operand {
        displacement: instruction.memory_displacement64(),
        base: base_number,
        index: index_number,
        shift: instruction.memory_index_scale().trailing_zeros() as u8,
        fs,
        size,
        writes: true,
        align: 1,
    })
}

fn address(instruction: &Instruction) -> Result<Action, &'static str> {
    let mut instruction = *instruction;
    instruction.set_segment_prefix(Register::None);
    // An address of 32 bits is the lower half of the sum.
    let mut narrow = false;
    for register in [instruction.memory_base(), instruction.memory_index()] {
        narrow |= register.is_gpr32() || register == Register::EIP;
    }
    if narrow {
        instruction.set_memory_base(widened(instruction.memory_base()));
        instruction.set_memory_index(widened(instruction.memory_index()));
        instruction.set_memory_displ_size(8);
    }
    let operand = place(&instruction, 1)?;
    let to = instruction.op0_register();
    Ok(Action::Address { operand, to: to.full_register().number() as u8, size: to.size() as u8, narrow })
}

fn widened(register: Register) -> Register {
    match register {
        Register::EIP => Register::RIP,
        register if register.is_gpr32() => register.full_register(),
        register => register,
    }
}

/// The memory operand, if any, with how it is used.
fn memory_operand(
    instruction: &Instruction,
    infos: &mut InstructionInfoFactory,
) -> Result<Option<Operand>, &'static str> {
    let is_memory = |kind| {
        !matches!(
            kind,
            OpKind::Register
                | OpKind::Immediate8
                | OpKind::Immediate8_2nd
                | OpKind::Immediate16
                | OpKind::Immediate32
                | OpKind::Immediate64
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate32to64
        )
    };
    let operands = (0..instruction.op_count()).filter(|&at| is_memory(instruction.op_kind(at))).count();
    let used = infos.info(instruction).used_memory();
    let &[used] = used else {
        return if used.is_empty() && operands == 0 { Ok(None) } else { Err("has several memory operands") };
    };
    let explicit = (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory);
    if operands != 1 || !explicit || instruction.is_vsib() || is_offset(instruction.code()) {
        return Err("has a memory operand of a form that is not followed");
    }
    let size = used.memory_size().size();
    if size == 0 || size > LARGEST || used.memory_size() == MemorySize::Unknown {
        return Err("has a memory operand whose size is not known");
    }
    let writes = match used.access() {
        OpAccess::Read | OpAccess::CondRead => false,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => true,
        _ => return Err("has a memory operand that is not used"),
    };
    let align = if needs_alignment(instruction, size) { size as u8 } else { 1 };
    Ok(Some(Operand { writes, align, ..place(instruction, size as u8)? }))
}

/// Forms of `mov` whose address of 64 bits is part of the instruction.
fn is_offset(code: Code) -> bool {
    matches!(
        code,
        Code::Mov_AL_moffs8
            | Code::Mov_AX_moffs16
            | Code::Mov_EAX_moffs32
            | Code::Mov_RAX_moffs64
            | Code::Mov_moffs8_AL
            | Code::Mov_moffs16_AX
            | Code::Mov_moffs32_EAX
            | Code::Mov_moffs64_RAX
    )
}

/// Whether the processor stops at an operand that is not aligned to its size.
fn needs_alignment(instruction: &Instruction, size: usize) -> bool {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Cmpxchg16b => true,
        M::Vmovaps | M::Vmovapd | M::Vmovdqa | M::Vmovntps | M::Vmovntpd | M::Vmovntdq | M::Vmovntdqa => true,
        M::Movups | M::Movupd | M::Movdqu | M::Lddqu => false,
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpistri | M::Pcmpistrm => false,
        _ => size >= 16 && instruction.encoding() == iced_x86::EncodingKind::Legacy,
    }
}

fn division(instruction: &Instruction, operand: Option<Operand>) -> Result<Option<Division>, &'static str> {
    let signed = match instruction.mnemonic() {
        Mnemonic::Div => false,
        Mnemonic::Idiv => true,
        _ => return Ok(None),
    };
    if let Some(operand) = operand {
        return Ok(Some(Division { divisor: Divisor::Memory(operand), size: operand.size, signed }));
    }
    let register = instruction.op0_register();
    if !register.is_gpr() {
        return Err("");
    }
    let high = matches!(register, Register::AH | Register::CH | Register::DH | Register::BH);
    let divisor = Divisor::Register(register.full_register().number() as u8, if high { 8 } else { 0 });
    Ok(Some(Division { divisor, size: register.size() as u8, signed }))
}

fn strings(instruction: &Instruction) -> Result<Option<Strings>, &'static str> {
    use StringOp::{Compare, Load, Move, Scan, Store};
    let (op, size) = match instruction.code() {
        Code::Movsb_m8_m8 => (Move, 1),
        Code::Movsw_m16_m16 => (Move, 2),
        Code::Movsd_m32_m32 => (Move, 4),
        Code::Movsq_m64_m64 => (Move, 8),
        Code::Stosb_m8_AL => (Store, 1),
        Code::Stosw_m16_AX => (Store, 2),
        Code::Stosd_m32_EAX => (Store, 4),
        Code::Stosq_m64_RAX => (Store, 8),
        Code::Lodsb_AL_m8 => (Load, 1),
        Code::Lodsw_AX_m16 => (Load, 2),
        Code::Lodsd_EAX_m32 => (Load, 4),
        Code::Lodsq_RAX_m64 => (Load, 8),
        Code::Cmpsb_m8_m8 => (Compare, 1),
        Code::Cmpsw_m16_m16 => (Compare, 2),
        Code::Cmpsd_m32_m32 => (Compare, 4),
        Code::Cmpsq_m64_m64 => (Compare, 8),
        Code::Scasb_AL_m8 => (Scan, 1),
        Code::Scasw_AX_m16 => (Scan, 2),
        Code::Scasd_EAX_m32 => (Scan, 4),
        Code::Scasq_RAX_m64 => (Scan, 8),
        _ => return Ok(None),
    };
    for operand in 0..instruction.op_count() {
        if !matches!(
            instruction.op_kind(operand),
            OpKind::MemorySegRSI | OpKind::MemoryESRDI | OpKind::Register
        ) {
            return Err("has an address of another size");
        }
    }
    if !matches!(instruction.segment_prefix(), Register::None | Register::DS) {
        return Err("has a segment");
    }
    let repeat = match (instruction.has_rep_prefix(), instruction.has_repne_prefix(), op) {
        (false, false, _) => Repeat::Once,
        (true, false, _) => Repeat::WhileEqual,
        (false, true, Compare | Scan) => Repeat::WhileDifferent,
        _ => return Err("has an odd prefix"),
    };
    Ok(Some(Strings { op, size, repeat }))
}

/// The basic instructions that depend on nothing but registers, flags and the memory operand, and change
/// nothing else.
fn is_listed(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{
        Adc, Add, And, Bsf, Bsr, Bswap, Bt, Btc, Btr, Bts, Cbw, Cdq, Cdqe, Clc, Cld, Cmc, Cmp, Cmpxchg, Cqo,
        Cwd, Cwde, Dec, Div, Idiv, Imul, Inc, Lahf, Mov, Movsx, Movsxd, Movzx, Mul, Neg, Not, Or, Rcl, Rcr,
        Rol, Ror, Sahf, Sal, Sar, Sbb, Seta, Setae, Setb, Setbe, Sete, Setg, Setge, Setl, Setle, Setne,
        Setno, Setnp, Setns, Seto, Setp, Sets, Shl, Shld, Shr, Shrd, Stc, Sub, Test, Xadd, Xchg, Xor,
    };
    #[rustfmt::skip]
    let listed = matches!(
        mnemonic,
        Adc | Add | And | Bsf | Bsr | Bswap | Bt | Btc | Btr | Bts | Cbw | Cdq | Cdqe | Clc | Cld | Cmc | Cmp
            | Cmpxchg | Cqo | Cwd | Cwde | Dec | Div | Idiv | Imul | Inc | Lahf | Mov | Movsx | Movsxd | Movzx
            | Mul | Neg | Not | Or | Rcl | Rcr | Rol | Ror | Sahf | Sal | Sar | Sbb | Seta | Setae | Setb | Setbe
            | Sete | Setg | Setge | Setl | Setle | Setne | Setno | Setnp | Setns | Seto | Setp | Sets | Shl | Shld
            | Shr | Shrd | Stc | Sub | Test | Xadd | Xchg | Xor
    );
    listed
}

/// Instructions of extensions that read or change something else, and those whose result is undefined.
fn is_excluded(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Ldmxcsr | M::Stmxcsr | M::Vldmxcsr | M::Vstmxcsr | M::Fisttp | M::Cvtpi2ps | M::Cvtpi2pd
    ) || instruction.code() == Code::Bswap_r16
}
