//! Objects in static memory: their contents are put back after each execution.

use std::sync::OnceLock;

/// Contents that were there before the execution.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    saved: Vec<(*mut u8, Box<[u8]>)>,
}

impl Statics {
    /// Saves the contents of an object at its first use in an execution.
    pub(crate) fn save(&mut self, object: *mut u8, size: usize) {
        if size == 0 {
            return;
        }
        // SAFETY: the caller passes an object of static storage, of this size, that no other
        // thread is using.
        let bytes = unsafe { std::slice::from_raw_parts(object, size) };
        self.saved.push((object, bytes.into()));
    }

    /// Puts all contents back.
    pub(crate) fn restore(&mut self) {
        for (object, bytes) in self.saved.drain(..) {
            // SAFETY: as in `save`; the execution that used the object is over.
            unsafe { object.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }
}

/// Whether the address is in the static memory of the program or of a library.
pub(crate) fn is_static(address: usize) -> bool {
    static SEGMENTS: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    SEGMENTS.get_or_init(segments).iter().any(|&(start, end)| (start..end).contains(&address))
}

/// The loaded segments of all objects.
fn segments() -> Vec<(usize, usize)> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes a valid record, and we passed the vector.
        let (info, found) = unsafe { (&*info, &mut *(found as *mut Vec<(usize, usize)>)) };
        for index in 0..info.dlpi_phnum as usize {
            // SAFETY: there are `dlpi_phnum` headers.
            let header = unsafe { &*info.dlpi_phdr.add(index) };
            if header.p_type == libc::PT_LOAD {
                let start = info.dlpi_addr as usize + header.p_vaddr as usize;
                found.push((start, start + header.p_memsz as usize));
            }
        }
        0
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    // SAFETY: `visit` matches the signature and gets the vector it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}
