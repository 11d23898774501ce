//! From a type and an offset to a field or an element.
//!
//! Fields are spelled as the program would: `table[3].next`. What a type of the standard libraries is made of is nobody's
//! business: an `std::atomic` and a `pthread_mutex_t` are told by their own names, and an `std::array` is an array.

use std::fmt;

use gimli::constants as c;

use crate::index::key;
use crate::module::{Entry, Module, Notes, covering};

/// A variable, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, with fields and indices: `table[3].next`.
    pub name: String,
    /// Its type, if that has a name.
    pub kind: Option<String>,
    /// How far into it the address lies, in bytes; 0 as a rule.
    pub offset: u64,
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => f.write_str(&self.name),
            offset => write!(f, "{}+{offset}", self.name),
        }
    }
}

/// Types nest no deeper than this; notes that say otherwise are broken.
const DEEPEST: usize = 64;

impl Module {
    /// The variable with a fixed place that an access lies in, down to the field or element.
    pub fn variable(&self, offset: u64, size: u64) -> Option<Variable> {
        self.noted_variable(offset, size).or_else(|| {
            let symbol = covering(&self.objects, offset)?;
            let name = crate::demangled(&symbol.name);
            Some(Variable { name, kind: None, offset: offset - symbol.address })
        })
    }

    fn noted_variable(&self, offset: u64, size: u64) -> Option<Variable> {
        let globals = &self.index().globals;
        let after = globals.partition_point(|global| global.address <= offset);
        let near = globals[..after].iter().rev().take(8);
        let global = near.into_iter().find(|global| offset < global.address + global.size)?;
        Some(self.part(&global.name, global.shape, offset - global.address, size))
    }

    /// The part of a variable that an access lies in.
    pub(crate) fn part(&self, name: &str, shape: Entry, offset: u64, size: u64) -> Variable {
        let mut part = Variable { name: name.to_string(), kind: None, offset };
        if let Some(notes) = &self.notes {
            self.descend(notes, shape, size, 0, &mut part);
        }
        part
    }

    fn descend(&self, notes: &Notes, shape: Entry, size: u64, depth: usize, part: &mut Variable) {
        part.kind = self.type_name(notes, shape, depth);
        let bare = notes.bare(shape);
        let Some(entry) = notes.entry(bare).filter(|_| depth < DEEPEST) else { return };
        match entry.tag() {
            c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
                let whole = self.index().names.get(&key(bare)).map_or("", String::as_str);
                let is_array = whole.starts_with("std::array<");
                if !is_array && (whole.starts_with("std::") || whole.starts_with("__gnu_cxx::")) {
                    return;
                }
                let Some(member) = notes.member(bare, part.offset, size) else { return };
                if member.name.as_ref().is_some_and(|name| name.starts_with("__")) {
                    return;
                }
                part.offset -= member.offset;
                if let Some(name) = member.name.filter(|_| !is_array) {
                    part.name = format!("{}.{name}", part.name);
                }
                self.descend(notes, member.shape, size, depth + 1, part);
            }
            c::DW_TAG_array_type => {
                let element = notes.referred(bare.0, &entry, c::DW_AT_type);
                let Some((element, bytes)) = element.and_then(|shape| Some((shape, notes.size(shape)?)))
                else {
                    return;
                };
                let mut counts = notes.counts(bare);
                while !counts.is_empty() {
                    // Bytes from one index of this dimension to the next.
                    let stride = counts[1..].iter().try_fold(bytes, |bytes, count| bytes.checked_mul(*count));
                    let Some(stride) = stride.filter(|stride| *stride > 0) else { return };
                    if part.offset % stride + size > stride {
                        return;
                    }
                    part.name.push_str(&format!("[{}]", part.offset / stride));
                    part.offset %= stride;
                    counts.remove(0);
                }
                self.descend(notes, element, size, depth + 1, part);
            }
            _ => {}
        }
    }

    /// The name of a type, as far as it has one.
    fn type_name(&self, notes: &Notes, shape: Entry, depth: usize) -> Option<String> {
        if let Some(name) = self.index().names.get(&key(shape)) {
            return Some(name.clone());
        }
        let entry = notes.entry(shape).filter(|_| depth < DEEPEST)?;
        let inner = || self.type_name(notes, notes.referred(shape.0, &entry, c::DW_AT_type)?, depth + 1);
        match entry.tag() {
            c::DW_TAG_pointer_type => Some(inner().unwrap_or_else(|| String::from("void")) + " *"),
            c::DW_TAG_reference_type => Some(inner()? + " &"),
            c::DW_TAG_const_type | c::DW_TAG_volatile_type | c::DW_TAG_restrict_type => inner(),
            c::DW_TAG_atomic_type => Some(format!("_Atomic {}", inner()?)),
            c::DW_TAG_base_type => notes.text(shape.0, &entry, c::DW_AT_name),
            _ => None,
        }
    }
}

/// A field.
pub(crate) struct Member {
    name: Option<String>,
    offset: u64,
    shape: Entry,
}

impl Notes {
    /// A type without its qualifiers and other names.
    fn bare(&self, mut shape: Entry) -> Entry {
        for _ in 0..DEEPEST {
            let Some(entry) = self.entry(shape) else { return shape };
            let qualified = matches!(
                entry.tag(),
                c::DW_TAG_typedef
                    | c::DW_TAG_const_type
                    | c::DW_TAG_volatile_type
                    | c::DW_TAG_restrict_type
                    | c::DW_TAG_atomic_type
            );
            match self.referred(shape.0, &entry, c::DW_AT_type).filter(|_| qualified) {
                Some(inner) => shape = inner,
                None => return shape,
            }
        }
        shape
    }

    /// Whether a type is a structure, a class or a union.
    pub(crate) fn has_fields(&self, shape: Entry) -> bool {
        let tag = self.entry(self.bare(shape)).map(|entry| entry.tag());
        matches!(tag, Some(c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type))
    }

    /// The bytes of a type.
    pub(crate) fn size(&self, shape: Entry) -> Option<u64> {
        let shape = self.bare(shape);
        let entry = self.entry(shape)?;
        if let Some(size) = entry.attr_value(c::DW_AT_byte_size).and_then(|value| value.udata_value()) {
            return Some(size);
        }
        match entry.tag() {
            c::DW_TAG_array_type => {
                let element = self.referred(shape.0, &entry, c::DW_AT_type)?;
                let counts = self.counts(shape);
                counts.into_iter().try_fold(self.size(element)?, u64::checked_mul)
            }
            c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => Some(8),
            _ => None,
        }
    }

    /// How many elements an array has, for each of its dimensions.
    fn counts(&self, array: Entry) -> Vec<u64> {
        let mut counts = Vec::new();
        self.children(array, |child| {
            if child.tag() == c::DW_TAG_subrange_type {
                let number = |attribute| child.attr_value(attribute).and_then(|value| value.udata_value());
                let upper = || number(c::DW_AT_upper_bound).and_then(|upper| upper.checked_add(1));
                counts.push(number(c::DW_AT_count).or_else(upper).unwrap_or(0));
            }
            true
        });
        counts
    }

    /// The field that an access lies in; of a union, the first that is large enough.
    fn member(&self, shape: Entry, offset: u64, size: u64) -> Option<Member> {
        let mut found = None;
        self.children(shape, |child| {
            if !matches!(child.tag(), c::DW_TAG_member | c::DW_TAG_inheritance) {
                return true;
            }
            let start = child.attr_value(c::DW_AT_data_member_location);
            let start = start.map_or(Some(0), |value| value.udata_value());
            let part = self.referred(shape.0, child, c::DW_AT_type);
            // Static members have a place of their own.
            let external = child.attr_value(c::DW_AT_external).is_some();
            let (Some(start), Some(part), false) = (start, part, external) else { return true };
            let bytes = self.size(part).unwrap_or(0);
            if start <= offset && offset + size <= start + bytes {
                let name = self.text(shape.0, child, c::DW_AT_name);
                let name = name.filter(|_| child.tag() == c::DW_TAG_member);
                found = Some(Member { name, offset: start, shape: part });
            }
            found.is_none()
        });
        found
    }

    /// Shows the children of an entry, until it has seen enough.
    pub(crate) fn children(
        &self,
        parent: Entry,
        mut see: impl FnMut(&gimli::DebuggingInformationEntry<crate::module::Reader>) -> bool,
    ) {
        let Ok(mut tree) = self.units[parent.0].entries_tree(Some(parent.1)) else { return };
        let Ok(root) = tree.root() else { return };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            if !see(child.entry()) {
                return;
            }
        }
    }
}
