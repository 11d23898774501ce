//! Which variables and types there are: one walk through all notes.

use std::collections::BTreeMap;

use gimli::{DebuggingInformationEntry, DwTag, EvaluationResult, Location, Operation, Piece, constants as c};

use crate::module::{Entry, Module, Notes, Reader};

/// Everything that has a name.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Variables with a fixed place, by address.
    pub(crate) globals: Vec<Global>,
    /// Structures, classes, unions and other names of types, by their whole name.
    pub(crate) types: BTreeMap<String, Vec<Entry>>,
    /// The whole names of types, and of variables that are declared in one place and defined in another.
    pub(crate) names: BTreeMap<(usize, usize), String>,
}

/// A variable with a fixed place.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
    pub(crate) shape: Entry,
}

/// What is found before it is known where the declaration is.
struct Found {
    address: u64,
    name: Option<String>,
    shape: Option<Entry>,
    declaration: Option<Entry>,
}

impl Module {
    /// The index, made when it is first asked for.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| self.notes.as_ref().map(Index::of).unwrap_or_default())
    }
}

impl Index {
    fn of(notes: &Notes) -> Index {
        let mut index = Index::default();
        let mut found = Vec::new();
        for unit in 0..notes.units.len() {
            // A unit that cannot be read has no names; the others have.
            let _ = index.walk(notes, unit, &mut found);
        }
        for Found { address, name, shape, declaration } in found {
            let declared = declaration.and_then(|entry| notes.entry(entry));
            let shape = shape.or_else(|| notes.referred(declaration?.0, declared.as_ref()?, c::DW_AT_type));
            let elsewhere = || index.names.get(&key(declaration?)).cloned();
            let (Some(name), Some(shape)) = (name.or_else(elsewhere), shape) else { continue };
            let size = notes.size(shape).unwrap_or(1).max(1);
            index.globals.push(Global { address, size, name, shape });
        }
        index.globals.sort_by(|a, b| (a.address, a.size, &a.name).cmp(&(b.address, b.size, &b.name)));
        index
    }

    fn walk(&mut self, notes: &Notes, unit: usize, found: &mut Vec<Found>) -> gimli::Result<()> {
        let mut entries = notes.units[unit].entries();
        // The names around an entry, with the depth that they are at.
        let mut around: Vec<(isize, String)> = Vec::new();
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            around.retain(|(outer, _)| *outer < depth);
            let own = notes.text(unit, entry, c::DW_AT_name);
            let whole = own.as_ref().map(|own| {
                let mut parts: Vec<&str> = around.iter().map(|(_, name)| name.as_str()).collect();
                parts.push(own);
                parts.join("::")
            });
            let place = (unit, entry.offset());
            match entry.tag() {
                c::DW_TAG_namespace => around.extend(own.map(|name| (depth, name))),
                c::DW_TAG_subprogram => {
                    let name = own.or_else(|| declared_name(notes, unit, entry));
                    around.extend(name.map(|name| (depth, name)));
                }
                tag if is_type(tag) => {
                    if let Some(whole) = whole {
                        if entry.attr_value(c::DW_AT_declaration).is_none() {
                            self.types.entry(whole.clone()).or_default().push(place);
                        }
                        self.names.insert(key(place), whole);
                    }
                    around.extend(own.map(|name| (depth, name)));
                }
                c::DW_TAG_variable | c::DW_TAG_member => {
                    if let Some(whole) = whole.clone() {
                        self.names.insert(key(place), whole);
                    }
                    if let Some(address) = fixed(notes, unit, entry) {
                        let declaration = notes.referred(unit, entry, c::DW_AT_specification);
                        let declaration =
                            declaration.or_else(|| notes.referred(unit, entry, c::DW_AT_abstract_origin));
                        let shape = notes.referred(unit, entry, c::DW_AT_type);
                        found.push(Found { address, name: whole, shape, declaration });
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What maps are ordered by.
pub(crate) fn key(entry: Entry) -> (usize, usize) {
    (entry.0, entry.1.0)
}

fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        c::DW_TAG_structure_type
            | c::DW_TAG_class_type
            | c::DW_TAG_union_type
            | c::DW_TAG_enumeration_type
            | c::DW_TAG_typedef
    )
}

/// The name of a function that is defined apart from its declaration, or inlined.
fn declared_name(notes: &Notes, unit: usize, entry: &DebuggingInformationEntry<Reader>) -> Option<String> {
    let declaration = notes.referred(unit, entry, c::DW_AT_specification);
    let declaration = declaration.or_else(|| notes.referred(unit, entry, c::DW_AT_abstract_origin))?;
    let declared = notes.entry(declaration)?;
    let name = notes.text(declaration.0, &declared, c::DW_AT_name);
    name.or_else(|| declared_name(notes, declaration.0, &declared))
}

/// The address of a variable, if it has a fixed one.
fn fixed(notes: &Notes, unit: usize, entry: &DebuggingInformationEntry<Reader>) -> Option<u64> {
    let expression = entry.attr_value(c::DW_AT_location)?.exprloc_value()?;
    let encoding = notes.units[unit].encoding();
    // Where a thread's own copy is depends on the thread.
    let mut operations = expression.clone().operations(encoding);
    while let Ok(Some(operation)) = operations.next() {
        if matches!(operation, Operation::TLS) {
            return None;
        }
    }
    let mut evaluation = expression.evaluation(encoding);
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address).ok()?
            }
            EvaluationResult::RequiresIndexedAddress { index, .. } => {
                let address = notes.dwarf.address(&notes.units[unit], index).ok()?;
                evaluation.resume_with_indexed_address(address).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result() {
        &[Piece { location: Location::Address { address }, .. }] => Some(address),
        _ => None,
    }
}
