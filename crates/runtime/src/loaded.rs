//! The program and its libraries, as they lie in memory.

use std::ops::Range;

/// A part of the program or of a library, as its file describes it.
pub(crate) type Header = libc::Elf64_Phdr;

/// Looks at the parts of the program, which comes first, and of its libraries, until `look` finds something.
pub(crate) fn find<T, F: FnMut(&libc::dl_phdr_info, &Header) -> Option<T>>(look: F) -> Option<T> {
    struct Search<T, F> {
        look: F,
        found: Option<T>,
    }
    unsafe extern "C" fn visit<T, F: FnMut(&libc::dl_phdr_info, &Header) -> Option<T>>(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        search: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes a valid record with so many headers, and the search that was given to it below.
        let (info, headers, search) = unsafe {
            let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum.into());
            (&*info, headers, &mut *search.cast::<Search<T, F>>())
        };
        search.found = headers.iter().find_map(|header| (search.look)(info, header));
        search.found.is_some().into()
    }
    let mut search = Search { look, found: None };
    // SAFETY: the function is called with records of the loader, and with the search, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(visit::<T, F>), (&raw mut search).cast()) };
    search.found
}

/// Where a part is in memory, if it is not one of the calling OS thread.
pub(crate) fn place(info: &libc::dl_phdr_info, header: &Header) -> Range<usize> {
    let start = info.dlpi_addr as usize + header.p_vaddr as usize;
    start..start + header.p_memsz as usize
}

/// Where the calling OS thread has a part, if that is one of its own.
pub(crate) fn place_of_thread(info: &libc::dl_phdr_info, header: &Header) -> Option<Range<usize>> {
    let start = info.dlpi_tls_data as usize;
    (header.p_type == libc::PT_TLS && start != 0).then(|| start..start + header.p_memsz as usize)
}

/// Whether this is the C library, or the loader.
pub(crate) fn is_c_library(info: &libc::dl_phdr_info) -> bool {
    // SAFETY: the loader gives a string, which is empty for the program.
    let path = unsafe { std::ffi::CStr::from_ptr(info.dlpi_name) }.to_bytes();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    [&b"libc.so"[..], b"ld-linux", b"libpthread.so"].iter().any(|start| name.starts_with(start))
}
