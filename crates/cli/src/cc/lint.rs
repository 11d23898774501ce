//! Atomic operations in a program that the runtime cannot see.
//!
//! The compiler's instrumentation covers C and C++, and nothing else: an instruction that was written by hand, or came from a library
//! that was compiled before, changes memory behind the back of the check. This looks through the code that was linked, and
//! tells of:
//!
//! - instructions that are atomic, `lock` in front or `xchg` with memory, and `mfence`: instrumented code has none;
//! - calls of the library for atomics that the runtime does not answer.
//!
//! Code of shared libraries is not looked at: those of the system are full of such instructions, and are covered by
//! taking the place of their functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use unpick_names::{Frame, Module};

use crate::error::Error;

/// How many are told one by one.
const MOST: usize = 10;

/// The prefix of the functions of the library for atomics.
const ATOMIC: &str = "__atomic_";

/// What is told of a program: for each place that is not seen, where it is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Warning {
    /// The file and line, if they are known, or the program.
    place: String,
    /// What is there.
    what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: warning: {}", self.place, self.what)
    }
}

/// Looks through a program or a shared library. A file that is none, such as `/dev/null`, has nothing to tell.
pub(super) fn look(program: &Path, runtime: PathBuf) -> Result<Vec<Warning>, Error> {
    let unreadable = |problem| Error::Unreadable { path: program.to_path_buf(), problem };
    if !program.is_file() {
        return Ok(Vec::new());
    }
    let bytes = std::fs::read(program).map_err(unreadable)?;
    let Ok(file) = object::File::parse(&*bytes) else { return Ok(Vec::new()) };
    let unanswered = unanswered(&file, &runtime);
    let found = hidden(&file, &unanswered);
    if found.is_empty() {
        return Ok(Vec::new());
    }
    // Notes are read only now: programs that have nothing to tell are the rule, and builds should be quick.
    let module = Module::load(program).ok();
    let mut warnings = BTreeSet::new();
    for (offset, what) in found {
        let frames = module.as_ref().map(|module| module.frames(offset)).unwrap_or_default();
        warnings.insert(told(program, offset, &what, &frames));
    }
    let more = warnings.len().saturating_sub(MOST);
    let mut warnings: Vec<Warning> = warnings.into_iter().take(MOST).collect();
    if more > 0 {
        let what = format!("and {more} more places that a check does not see");
        warnings.push(Warning { place: program.display().to_string(), what });
    }
    Ok(warnings)
}

fn told(program: &Path, offset: u64, what: &str, frames: &[Frame]) -> Warning {
    // The innermost frame is often an intrinsic of the compiler; the first of the user's says more.
    let own =
        frames.iter().find(|frame| frame.file.as_deref().is_some_and(|file| !file.starts_with("/usr/")));
    let frame = own.or(frames.first());
    let place = match frame.and_then(|frame| Some((frame.file.as_deref()?, frame.line?))) {
        Some((file, line)) => format!("{file}:{line}"),
        None => format!("{}+{offset:#x}", program.display()),
    };
    let function = frame.and_then(|frame| frame.function.as_deref());
    let function = function.map(|name| format!(" in `{name}`")).unwrap_or_default();
    let what = format!(
        "{what}{function} is not seen by a check; use the atomics of C or C++, and compile everything with unpick"
    );
    Warning { place, what }
}

/// Functions of the library for atomics that the program calls, and the runtime does not answer.
fn unanswered(file: &object::File<'_>, runtime: &Path) -> BTreeSet<String> {
    let wanted = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    let wanted = wanted.filter_map(|symbol| symbol.name().ok()).filter(|name| name.starts_with(ATOMIC));
    let mut wanted: BTreeSet<String> = wanted.map(str::to_string).collect();
    if wanted.is_empty() {
        return wanted;
    }
    let bytes = std::fs::read(runtime).unwrap_or_default();
    if let Ok(runtime) = object::File::parse(&*bytes) {
        let answered = runtime.dynamic_symbols().filter(|symbol| symbol.is_definition());
        answered.filter_map(|symbol| symbol.name().ok()).for_each(|name| {
            wanted.remove(name);
        });
    }
    wanted
}

/// Places in the code, and what is there.
fn hidden(file: &object::File<'_>, unanswered: &BTreeSet<String>) -> Vec<(u64, String)> {
    let imports = if unanswered.is_empty() { BTreeMap::new() } else { imports(file) };
    let mut found = Vec::new();
    let is_stub =
        |section: &object::Section<'_, '_>| section.name().is_ok_and(|name| name.starts_with(".plt"));
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text && !is_stub(section))
    {
        let Ok(data) = section.data() else { continue };
        let mut decoder = Decoder::with_ip(64, data, section.address(), DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if let Some(what) = atomic(&instruction) {
                found.push((instruction.ip(), what.to_string()));
            } else if !imports.is_empty()
                && let Some(name) =
                    called(file, &instruction, &imports).filter(|name| unanswered.contains(*name))
            {
                found.push((instruction.ip(), format!("a call of `{name}`")));
            }
        }
    }
    found
}

/// What an instruction does behind the back of the check.
fn atomic(instruction: &Instruction) -> Option<&'static str> {
    if instruction.is_invalid() {
        return None;
    }
    let with_memory = (0..instruction.op_count()).any(|index| instruction.op_kind(index) == OpKind::Memory);
    match instruction.mnemonic() {
        Mnemonic::Xchg if with_memory => Some("an atomic instruction (`xchg` with memory)"),
        Mnemonic::Mfence => Some("a fence (`mfence`)"),
        _ if instruction.has_lock_prefix() => Some("an atomic instruction (`lock`)"),
        _ => None,
    }
}

/// The slots through which functions of other modules are called.
fn imports<'data>(file: &object::File<'data>) -> BTreeMap<u64, &'data str> {
    let symbols = file.dynamic_symbol_table();
    let relocations = file.dynamic_relocations().into_iter().flatten();
    let named = relocations.filter_map(|(slot, relocation)| {
        let RelocationTarget::Symbol(index) = relocation.target() else { return None };
        use object::ObjectSymbolTable;
        Some((slot, symbols.as_ref()?.symbol_by_index(index).ok()?.name().ok()?))
    });
    named.collect()
}

/// The function of another module that an instruction calls, through its slot or through a stub that jumps there.
fn called<'a>(
    file: &object::File<'_>,
    instruction: &Instruction,
    imports: &BTreeMap<u64, &'a str>,
) -> Option<&'a str> {
    match instruction.flow_control() {
        FlowControl::IndirectCall | FlowControl::IndirectBranch => slot(instruction, imports),
        FlowControl::Call | FlowControl::UnconditionalBranch => {
            let target = instruction.near_branch_target();
            let stub = file.sections().find(|section| {
                let within = section.address() <= target && target < section.address() + section.size();
                within && section.name().is_ok_and(|name| name.starts_with(".plt"))
            })?;
            let data = stub.data_range(target, 16).ok()??;
            let mut decoder = Decoder::with_ip(64, data, target, DecoderOptions::NONE);
            decoder.iter().take(3).find_map(|instruction| slot(&instruction, imports))
        }
        _ => None,
    }
}

fn slot<'a>(instruction: &Instruction, imports: &BTreeMap<u64, &'a str>) -> Option<&'a str> {
    let indirect = matches!(instruction.code(), Code::Call_rm64 | Code::Jmp_rm64);
    let place = instruction.ip_rel_memory_address();
    imports.get(&place).copied().filter(|_| indirect && instruction.is_ip_rel_memory_operand())
}
