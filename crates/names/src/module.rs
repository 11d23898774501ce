//! A file, its symbols and its notes.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use gimli::{DebugInfoOffset, EndianArcSlice, LittleEndian, Unit, UnitOffset};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::index::Index;
use crate::source::Sources;

/// How notes are read.
pub(crate) type Reader = EndianArcSlice<LittleEndian>;

/// An entry of the notes: its unit, and where in it.
pub(crate) type Entry = (usize, UnitOffset);

/// Why a module cannot be looked into.
#[derive(Debug)]
pub enum Error {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: std::io::Error,
    },
    /// The file is no program and no library.
    NoModule {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreadable { path, problem } => {
                write!(f, "`{}` cannot be read: {problem}; check the path", path.display())
            }
            Error::NoModule { path, problem } => {
                write!(f, "`{}` is no program: {problem}; name one that was linked", path.display())
            }
        }
    }
}

impl std::error::Error for Error {}

/// The modules of a process. Each is looked into once, when it is asked for.
#[derive(Debug, Default)]
pub struct Names {
    modules: RefCell<BTreeMap<PathBuf, Rc<Module>>>,
}

impl Names {
    /// A module.
    pub fn module(&self, path: &Path) -> Result<Rc<Module>, Error> {
        if let Some(module) = self.modules.borrow().get(path) {
            return Ok(Rc::clone(module));
        }
        let module = Rc::new(Module::load(path)?);
        self.modules.borrow_mut().insert(path.to_path_buf(), Rc::clone(&module));
        Ok(module)
    }
}

/// A program or a shared library.
pub struct Module {
    pub(crate) functions: Vec<Symbol>,
    pub(crate) objects: Vec<Symbol>,
    pub(crate) notes: Option<Notes>,
    pub(crate) index: OnceCell<Index>,
    pub(crate) sources: Sources,
}

/// A name in the symbol table.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
}

/// What the compiler has noted.
pub(crate) struct Notes {
    pub(crate) context: addr2line::Context<Reader>,
    pub(crate) dwarf: Arc<gimli::Dwarf<Reader>>,
    pub(crate) units: Vec<Unit<Reader>>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("functions", &self.functions.len()).finish_non_exhaustive()
    }
}

impl Module {
    /// Looks into a file.
    pub fn load(path: &Path) -> Result<Module, Error> {
        let bytes =
            std::fs::read(path).map_err(|problem| Error::Unreadable { path: path.to_path_buf(), problem })?;
        let wrong = |problem: object::Error| Error::NoModule {
            path: path.to_path_buf(),
            problem: problem.to_string(),
        };
        let file = object::File::parse(&*bytes).map_err(wrong)?;
        let (mut functions, mut objects) = (Vec::new(), Vec::new());
        for symbol in file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.is_definition()) {
            let Ok(name) = symbol.name() else { continue };
            let entry = Symbol { address: symbol.address(), size: symbol.size(), name: name.to_string() };
            match symbol.kind() {
                SymbolKind::Text => functions.push(entry),
                SymbolKind::Data => objects.push(entry),
                _ => {}
            }
        }
        for list in [&mut functions, &mut objects] {
            list.sort_by(|a, b| (a.address, a.size, &a.name).cmp(&(b.address, b.size, &b.name)));
            list.dedup_by(|a, b| a.address == b.address && a.name == b.name);
        }
        // Notes that cannot be read are notes that are not there.
        let notes = Notes::of(&file).ok().or_else(|| Notes::apart(&file));
        Ok(Module { functions, objects, notes, index: OnceCell::new(), sources: Sources::default() })
    }

    /// The line of a file, without the spaces around it.
    pub fn source(&self, file: &str, line: u32) -> Option<String> {
        self.sources.line(Path::new(file), line)
    }

    /// The function that an offset lies in, by the symbol table: its offset and its length.
    pub fn function(&self, offset: u64) -> Option<(u64, u64)> {
        covering(&self.functions, offset).map(|symbol| (symbol.address, symbol.size))
    }
}

/// The symbol that an offset lies in.
pub(crate) fn covering(symbols: &[Symbol], offset: u64) -> Option<&Symbol> {
    let after = symbols.partition_point(|symbol| symbol.address <= offset);
    let near = symbols[..after].iter().rev().take(8);
    near.into_iter().find(|symbol| offset < symbol.address + symbol.size)
}

impl Notes {
    fn of(file: &object::File<'_>) -> Result<Notes, gimli::Error> {
        let section = |id: gimli::SectionId| {
            let found = file.section_by_name(id.name());
            let data = found.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default();
            Ok::<_, gimli::Error>(Reader::new(Arc::from(&*data), LittleEndian))
        };
        let dwarf = Arc::new(gimli::Dwarf::load(section)?);
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            units.push(dwarf.unit(header)?);
        }
        if units.is_empty() {
            return Err(gimli::Error::MissingUnitDie);
        }
        let context = addr2line::Context::from_arc_dwarf(Arc::clone(&dwarf))?;
        Ok(Notes { context, dwarf, units })
    }

    /// Notes that the system keeps in a file of their own, by the number of the build.
    fn apart(file: &object::File<'_>) -> Option<Notes> {
        let id: String = file.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect();
        let (first, rest) = id.split_at_checked(2)?;
        let bytes = std::fs::read(format!("/usr/lib/debug/.build-id/{first}/{rest}.debug")).ok()?;
        Notes::of(&object::File::parse(&*bytes).ok()?).ok()
    }

    /// The entry that an attribute refers to.
    pub(crate) fn referred(
        &self,
        unit: usize,
        entry: &gimli::DebuggingInformationEntry<Reader>,
        attribute: gimli::DwAt,
    ) -> Option<Entry> {
        match entry.attr_value(attribute)? {
            gimli::AttributeValue::UnitRef(offset) => Some((unit, offset)),
            gimli::AttributeValue::DebugInfoRef(offset) => self.anywhere(offset),
            _ => None,
        }
    }

    fn anywhere(&self, offset: DebugInfoOffset) -> Option<Entry> {
        let starts =
            |unit: &Unit<Reader>| unit.header.debug_info_offset().map_or(usize::MAX, |start| start.0);
        let index = self.units.partition_point(|unit| starts(unit) <= offset.0).checked_sub(1)?;
        Some((index, offset.to_unit_offset(&self.units[index].header)?))
    }

    /// An entry, read.
    pub(crate) fn entry(&self, entry: Entry) -> Option<gimli::DebuggingInformationEntry<Reader>> {
        self.units[entry.0].entry(entry.1).ok()
    }

    /// The text of an attribute.
    pub(crate) fn text(
        &self,
        unit: usize,
        entry: &gimli::DebuggingInformationEntry<Reader>,
        attribute: gimli::DwAt,
    ) -> Option<String> {
        let value = entry.attr_value(attribute)?;
        let text = self.dwarf.attr_string(&self.units[unit], value).ok()?;
        Some(gimli::Reader::to_string_lossy(&text).ok()?.into_owned())
    }
}
