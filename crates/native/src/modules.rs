//! The program and its libraries: where they lie, and what of them is restored.

use std::ffi::{CStr, c_void};

use unpick_native_wire::Code;

/// A module.
#[derive(Debug)]
pub(crate) struct Module {
    /// Path of its file.
    pub(crate) path: String,
    /// What offsets count from.
    base: usize,
    /// The parts that are in memory.
    parts: Vec<(usize, usize)>,
    /// Those of them that the program may write to.
    pub(crate) writable: Vec<(usize, usize)>,
    /// Where its thread-local storage lies, relative to the base of storage, and its size.
    pub(crate) storage: Option<(isize, usize)>,
    /// Whether it is the C library or a part of it.
    is_system: bool,
    /// Whether it belongs to the C or C++ library.
    is_of_language: bool,
    /// Whether it is the program or one of its libraries, and neither ours nor the loader.
    pub(crate) is_of_program: bool,
}

/// All modules.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// In the order in which they were loaded; the program is the first.
    pub(crate) list: Vec<Module>,
}

struct Scan {
    modules: Vec<Module>,
    storage: usize,
}

impl Modules {
    /// The modules of the process; `storage` is the base of thread-local storage of the caller.
    pub(crate) fn find(storage: usize) -> Modules {
        let mut scan = Scan { modules: Vec::new(), storage };
        // SAFETY: the callback gets the scan, and uses it only during the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut scan).cast()) };
        Modules { list: scan.modules }
    }

    /// Whether an address is of the C library.
    pub(crate) fn is_system(&self, address: usize) -> bool {
        let code = self.code(address);
        code.is_some_and(|code| self.list[code.module as usize].is_system)
    }

    /// Whether an address is code of the program or of a library that is no part of the system's.
    pub(crate) fn is_of_user(&self, address: usize) -> bool {
        let code = self.code(address);
        code.is_some_and(|code| {
            let module = &self.list[code.module as usize];
            module.is_of_program && !module.is_of_language
        })
    }

    /// The libraries whose accesses to memory are not seen, as the end of a sentence that gives advice; empty: there are none.
    pub(crate) fn told_unseen(&self) -> String {
        // Instrumented code calls functions of these names.
        let is_seen = |path: &str| {
            let bytes = std::fs::read(path).unwrap_or_default();
            bytes.windows(7).any(|window| window == b"__tsan_")
        };
        let own = self.list.iter().filter(|module| module.is_of_program && !module.is_of_language);
        let unseen = own.map(|module| module.path.as_str()).filter(|path| !path.is_empty() && !is_seen(path));
        let unseen: Vec<String> = unseen.map(|path| format!("`{path}`")).collect();
        if unseen.is_empty() {
            return String::new();
        }
        format!(
            "; {} not compiled by `unpick cc` or `unpick c++`, so that what is read and written there is not seen: compile it \
             so, or keep memory that threads share away from it",
            match unseen.as_slice() {
                [one] => format!("{one} was"),
                more => format!("{} were", more.join(" and ")),
            }
        )
    }

    /// The place of an address.
    pub(crate) fn code(&self, address: usize) -> Option<Code> {
        let within = |module: &Module| module.parts.iter().any(|&(from, to)| (from..to).contains(&address));
        let module = self.list.iter().position(within)?;
        Some(Code { module: module as u32, offset: (address - self.list[module].base) as u64 })
    }
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, scan: *mut c_void) -> i32 {
    // SAFETY: what the loader passes is valid during the call, and so is our own argument.
    let (info, scan) = unsafe { (&*info, &mut *scan.cast::<Scan>()) };
    // SAFETY: as above.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let name = match info.dlpi_name.is_null() {
        true => String::new(),
        // SAFETY: as above.
        false => unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned(),
    };
    let base = info.dlpi_addr as usize;
    let range = |header: &libc::Elf64_Phdr| {
        let start = base + header.p_vaddr as usize;
        (start, start + header.p_memsz as usize)
    };
    let loaded = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let parts: Vec<_> = loaded().map(range).collect();
    let here = look as *const () as usize;
    let is_ours = !name.is_empty() && parts.iter().any(|&(from, to)| (from..to).contains(&here));
    let file = name.rsplit('/').next().unwrap_or_default();
    let is_loader = file.starts_with("ld-linux") || file.starts_with("linux-vdso");
    let fixed = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO).map(range);
    let writable = loaded().filter(|header| header.p_flags & libc::PF_W != 0).map(range);
    let writable = writable.filter_map(|(from, to)| {
        // What is fixed after loading comes first in its part.
        let from = fixed.filter(|fixed| fixed.0 <= from && fixed.1 > from).map_or(from, |fixed| fixed.1);
        (from < to).then_some((from, to))
    });
    let storage = headers.iter().find(|header| header.p_type == libc::PT_TLS).and_then(|header| {
        let data = info.dlpi_tls_data as usize;
        (data != 0).then(|| (data.wrapping_sub(scan.storage) as isize, header.p_memsz as usize))
    });
    let file = file.to_string();
    let path = if name.is_empty() { own_path() } else { name };
    let writable = writable.collect();
    let is_of_program = !is_ours && !is_loader;
    let system = ["libc.so", "libm.so", "libgcc_s.so", "libpthread.so", "libdl.so"];
    let is_system = is_ours || is_loader || system.iter().any(|name| file.starts_with(name));
    let language = ["libstdc++.so", "libc++.so", "libc++abi.so", "libunwind.so", "libatomic.so", "librt.so"];
    let is_of_language = is_system || language.iter().any(|name| file.starts_with(name));
    scan.modules.push(Module {
        is_system,
        is_of_language,
        path,
        base,
        parts,
        writable,
        storage,
        is_of_program,
    });
    0
}

/// The path of the program.
fn own_path() -> String {
    std::fs::read_link("/proc/self/exe").map_or_else(|_| String::new(), |path| path.display().to_string())
}
