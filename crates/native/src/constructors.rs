//! Functions that run before `main` and after it: constructors and destructors of the program and its libraries.
//!
//! They are the program's own code, which may start threads, so they are part of each execution. The loader runs the
//! constructors of libraries, and the C library's start those of the program. Both are kept from it: of the
//! libraries that use this one, which the loader makes ready before them, the lists are taken away; the program is
//! started as one that brings its own function for that, which does nothing.
//!
//! Libraries that do not use this one are left to the loader. What they do before `main` is in the snapshot.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_void};

use crate::mode::{self, Mode};
use crate::sys;

type Entry = libc::Elf64_Phdr;

/// An entry of the table that tells the loader about a module.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

const NEEDED: i64 = 1;
const STRINGS: i64 = 5;
const INIT: i64 = 12;
const FINI: i64 = 13;
const NAME: i64 = 14;
const INIT_ARRAY: i64 = 25;
const FINI_ARRAY: i64 = 26;
const INIT_ARRAY_SIZE: i64 = 27;
const FINI_ARRAY_SIZE: i64 = 28;

/// A module, as the loader knows it.
#[derive(Clone, Debug)]
struct Module {
    /// The name of its file; that of the program is empty.
    file: String,
    base: usize,
    /// Where its table lies.
    table: usize,
    /// What the loader has made unwritable.
    fixed: Option<(usize, usize)>,
    is_ours: bool,
}

impl Module {
    fn entries(&self) -> impl Iterator<Item = (i64, usize)> + '_ {
        let at = |index: usize| (self.table + index * size_of::<Dynamic>()) as *const Dynamic;
        // SAFETY: the table of a loaded module, which ends with a zero.
        let entries = (0..).map(move |index| unsafe { ((*at(index)).tag, (*at(index)).value) });
        entries.take_while(|(tag, _)| *tag != 0)
    }

    fn entry(&self, tag: i64) -> Option<usize> {
        self.entries().find(|(known, _)| *known == tag).map(|(_, value)| value)
    }

    /// Changes an entry that is there.
    fn set(&self, tag: i64, value: usize) {
        let Some(index) = self.entries().position(|(known, _)| known == tag) else { return };
        let place = self.table + index * size_of::<Dynamic>() + size_of::<i64>();
        // SAFETY: the value of an entry; it is made writable for the moment if it is not.
        unsafe {
            let fixed = self.fixed.is_some_and(|(from, to)| (from..to).contains(&place));
            if fixed {
                protect(place, libc::PROT_READ | libc::PROT_WRITE);
            }
            *(place as *mut usize) = value;
            if fixed {
                protect(place, libc::PROT_READ);
            }
        }
    }

    /// The names in its table with this tag, without folders.
    fn names(&self, tag: i64) -> Vec<String> {
        let Some(strings) = self.entry(STRINGS) else { return Vec::new() };
        // The loader has put the address there, if it could.
        let strings = if strings < self.base { self.base + strings } else { strings };
        let names = self.entries().filter(|(known, _)| *known == tag);
        // SAFETY: strings of a loaded module.
        let names = names.map(|(_, at)| unsafe { CStr::from_ptr((strings + at) as *const c_char) });
        names.map(|name| file_name(&name.to_string_lossy()).to_string()).collect()
    }

    /// The functions of a list.
    fn functions(&self, list: i64, size: i64) -> Vec<usize> {
        let (Some(list), Some(size)) = (self.entry(list), self.entry(size)) else { return Vec::new() };
        let at = |index: usize| (self.base + list + index * size_of::<usize>()) as *const usize;
        // SAFETY: the list of a loaded module.
        let functions = (0..size / size_of::<usize>()).map(|index| unsafe { *at(index) });
        functions.filter(|&function| function != 0 && function != usize::MAX).collect()
    }

    fn constructors(&self) -> Vec<usize> {
        let first = self.entry(INIT).map(|init| self.base + init);
        first.into_iter().chain(self.functions(INIT_ARRAY, INIT_ARRAY_SIZE)).collect()
    }

    fn destructors(&self) -> Vec<usize> {
        let last = self.entry(FINI).map(|fini| self.base + fini);
        self.functions(FINI_ARRAY, FINI_ARRAY_SIZE).into_iter().rev().chain(last).collect()
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Says what may be done with the page of an address.
///
/// # Safety
///
/// Whoever uses the page may still do so.
unsafe fn protect(address: usize, protection: i32) {
    // SAFETY: the caller's promise.
    unsafe { sys::call(libc::SYS_mprotect, [address & !4095, 4096, protection as usize, 0, 0, 0]) };
}

/// The modules of the process; the program is the first.
fn modules() -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: the callback gets the list, and uses it only during the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut modules).cast()) };
    modules
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, modules: *mut c_void) -> i32 {
    // SAFETY: what the loader passes is valid during the call, and so is our own argument.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Vec<Module>>()) };
    // SAFETY: as above.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let base = info.dlpi_addr as usize;
    let range = |header: &Entry| {
        let start = base + header.p_vaddr as usize;
        (start, start + header.p_memsz as usize)
    };
    let find = |kind| headers.iter().find(|header| header.p_type == kind).map(range);
    let here = look as *const () as usize;
    let mut loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).map(range);
    let is_ours = loaded.any(|(from, to)| (from..to).contains(&here));
    // SAFETY: as above.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    if let Some((table, _)) = find(libc::PT_DYNAMIC) {
        let file = file_name(&name).to_string();
        modules.push(Module { file, base, table, fixed: find(libc::PT_GNU_RELRO), is_ours });
    }
    0
}

/// Libraries at most whose constructors are postponed.
const MOST: usize = 32;

#[derive(Debug)]
struct Postponed {
    /// Constructors and destructors of the libraries.
    libraries: Vec<(Vec<usize>, Vec<usize>)>,
    /// The libraries in the order in which the loader has made them ready.
    order: Vec<usize>,
    /// Constructors of all, the program last; ends with a zero.
    constructors: Vec<usize>,
    destructors: Vec<usize>,
}

struct Global(UnsafeCell<Postponed>);

// SAFETY: used in a check only, by its one OS thread.
unsafe impl Sync for Global {}

static POSTPONED: Global = Global(UnsafeCell::new(Postponed {
    libraries: Vec::new(),
    order: Vec::new(),
    constructors: Vec::new(),
    destructors: Vec::new(),
}));

fn postponed() -> &'static mut Postponed {
    // SAFETY: see `Global`; callers let go of the reference before the next call.
    unsafe { &mut *POSTPONED.0.get() }
}

/// What the loader calls in place of the constructors of a library.
extern "C" fn note<const LIBRARY: usize>() {
    postponed().order.push(LIBRARY);
}

extern "C" fn nothing() {}

macro_rules! notes {
    ($($number:literal)*) => { [$(note::<$number>),*] };
}

static NOTES: [extern "C" fn(); MOST] = notes! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
};

/// The loader calls this before it makes the libraries ready that use this one.
#[used]
#[unsafe(link_section = ".init_array")]
static POSTPONE: extern "C" fn() = postpone;

extern "C" fn postpone() {
    if mode::mode() != Mode::Before {
        return;
    }
    let modules = modules();
    let mut known: Vec<String> =
        modules.iter().filter(|module| module.is_ours).map(|module| module.file.clone()).collect();
    let mut left: Vec<&Module> =
        modules.iter().skip(1).filter(|module| !module.is_ours && !module.file.is_empty()).collect();
    // A library that uses one of those must wait as well.
    while let Some(index) =
        left.iter().position(|module| module.names(NEEDED).iter().any(|name| known.contains(name)))
    {
        let module = left.remove(index);
        known.push(module.file.clone());
        known.extend(module.names(NAME));
        let number = postponed().libraries.len();
        let (constructors, destructors) = (module.constructors(), module.destructors());
        if number == MOST || (constructors.is_empty() && destructors.is_empty()) {
            continue;
        }
        let of_loader = |function: usize| function.wrapping_sub(module.base);
        if module.entry(INIT_ARRAY).is_some() {
            module.set(INIT, of_loader(nothing as *const () as usize));
            module.set(INIT_ARRAY, of_loader(&raw const NOTES[number] as usize));
            module.set(INIT_ARRAY_SIZE, size_of::<usize>());
        } else if module.entry(INIT).is_some() {
            module.set(INIT, of_loader(NOTES[number] as *const () as usize));
        } else {
            continue;
        }
        postponed().libraries.push((constructors, destructors));
    }
}

/// Takes over the constructors of the program; `init` is its own function that runs them, if it has one. The result
/// is what to start it with in its place.
pub(crate) fn take_over(init: usize) -> usize {
    let modules = modules();
    let mut of_program = (Vec::new(), Vec::new());
    if let Some(program) = modules.first() {
        let constructors = if init == 0 { program.constructors() } else { vec![init] };
        of_program = (constructors, program.destructors());
    }
    let all = postponed();
    let libraries: Vec<_> = all.order.iter().map(|&number| all.libraries[number].clone()).collect();
    let in_order = || libraries.iter().chain([&of_program]);
    all.constructors = in_order().flat_map(|(constructors, _)| constructors).copied().chain([0]).collect();
    all.destructors = in_order().rev().flat_map(|(_, destructors)| destructors).copied().collect();
    nothing as *const () as usize
}

/// The constructors, one after the other; a zero comes last.
pub(crate) fn list() -> *const usize {
    postponed().constructors.as_ptr()
}

/// The destructors, in the order in which they run.
pub(crate) fn destructors() -> Vec<usize> {
    postponed().destructors.clone()
}

/// The library that an address belongs to, if it is neither ours nor the C or C++ library.
pub(crate) fn library_of(address: usize) -> Option<String> {
    // SAFETY: an answer of zeroes is one, and the place for it is writable.
    let name = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    };
    let file = file_name(&name);
    let ours = modules().iter().any(|module| module.is_ours && module.file == file);
    let foreign = ["libc.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread.so"];
    (!ours && !foreign.iter().any(|known| file.starts_with(known))).then(|| file.to_string())
}
