//! Variables on a stack.
//!
//! Where a variable lies is noted from the *canonical frame address*, the value that the stack pointer had before the call of its
//! function, or from the stack pointer within the function: unwinders know both. Variables whose address is taken stay in one
//! place, and only these can be shared.

use gimli::{DebuggingInformationEntry, Operation, Register, constants as c};

use crate::module::{Entry, Module, Notes, Reader};
use crate::shape::Variable;

/// The frame pointer and the stack pointer of x86-64.
const FRAME_POINTER: Register = Register(6);
const STACK_POINTER: Register = Register(7);
/// Where it points, from the canonical frame address: the saved one and the return address lie between.
const SAVED: i64 = 16;

/// Where something lies on a stack, in bytes from what a function's variables are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnStack {
    /// From the canonical frame address of the function.
    pub frame: i64,
    /// From its stack pointer.
    pub stack: i64,
}

/// What the places of a function's variables are counted from.
#[derive(Clone, Copy)]
enum Base {
    /// So many bytes from the canonical frame address.
    Frame(i64),
    /// The stack pointer.
    Stack,
}

impl Module {
    /// The variable of the function at an instruction that an access to a stack lies in.
    pub fn local(&self, offset: u64, access: OnStack, size: u64) -> Option<Variable> {
        let notes = self.notes.as_ref()?;
        let unit = (0..notes.units.len()).find(|unit| {
            let ranges = notes.dwarf.unit_ranges(&notes.units[*unit]).ok();
            ranges.is_some_and(|ranges| contains(ranges, offset))
        })?;
        let mut entries = notes.units[unit].entries();
        let mut base = None;
        let mut within = isize::MAX;
        let mut best: Option<(String, Entry, u64)> = None;
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.depth() <= within {
                within = isize::MAX;
                base = None;
            }
            let ranges = || notes.dwarf.die_ranges(&notes.units[unit], entry).ok();
            if entry.tag() == c::DW_TAG_subprogram && ranges().is_some_and(|ranges| contains(ranges, offset))
            {
                within = entry.depth();
                base = notes.base(unit, entry);
            }
            let (Some(base), c::DW_TAG_variable | c::DW_TAG_formal_parameter) = (base, entry.tag()) else {
                continue;
            };
            let Some(start) = notes.place_of(unit, entry) else { continue };
            let Some((name, shape)) = notes.told(unit, entry) else { continue };
            let bytes = notes.size(shape).unwrap_or(0);
            let within = match base {
                Base::Frame(base) => access.frame - base - start,
                Base::Stack => access.stack - start,
            };
            // Later entries are of inner blocks, which may use the same place.
            if let Ok(within) = u64::try_from(within)
                && within + size <= bytes
            {
                best = Some((name, shape, within));
            }
        }
        let (name, shape, within) = best?;
        Some(self.part(&name, shape, within, size))
    }
}

fn contains(mut ranges: gimli::RangeIter<Reader>, offset: u64) -> bool {
    while let Ok(Some(range)) = ranges.next() {
        if range.begin <= offset && offset < range.end {
            return true;
        }
    }
    false
}

impl Notes {
    /// What the places of a function's variables are counted from.
    fn base(&self, unit: usize, entry: &DebuggingInformationEntry<Reader>) -> Option<Base> {
        let expression = entry.attr_value(c::DW_AT_frame_base)?.exprloc_value()?;
        let mut operations = expression.operations(self.units[unit].encoding());
        match operations.next().ok()?? {
            Operation::CallFrameCFA => Some(Base::Frame(0)),
            Operation::Register { register: FRAME_POINTER } => Some(Base::Frame(-SAVED)),
            Operation::Register { register: STACK_POINTER } => Some(Base::Stack),
            _ => None,
        }
    }

    /// The place of a variable from there, if it has one.
    fn place_of(&self, unit: usize, entry: &DebuggingInformationEntry<Reader>) -> Option<i64> {
        let expression = entry.attr_value(c::DW_AT_location)?.exprloc_value()?;
        let mut operations = expression.operations(self.units[unit].encoding());
        match (operations.next().ok()??, operations.next()) {
            (Operation::FrameOffset { offset }, Ok(None)) => Some(offset),
            _ => None,
        }
    }

    /// The name and the type of a variable, from where it was declared if need be.
    fn told(&self, unit: usize, entry: &DebuggingInformationEntry<Reader>) -> Option<(String, Entry)> {
        let origin = self.referred(unit, entry, c::DW_AT_abstract_origin);
        let declared = origin.and_then(|origin| Some((origin.0, self.entry(origin)?)));
        let declared = declared.as_ref();
        let own = self.text(unit, entry, c::DW_AT_name);
        let name =
            own.or_else(|| declared.and_then(|(unit, entry)| self.text(*unit, entry, c::DW_AT_name)))?;
        let own = self.referred(unit, entry, c::DW_AT_type);
        let shape =
            own.or_else(|| declared.and_then(|(unit, entry)| self.referred(*unit, entry, c::DW_AT_type)))?;
        Some((name, shape))
    }
}
