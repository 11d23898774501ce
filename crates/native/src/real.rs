//! The functions that this library stands in front of.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::sys;

/// Calls the function of a name that comes after ours: `pass!(c"name", fn(types) -> type, arguments)`. The
/// arguments are those of whoever has called us.
macro_rules! pass {
    ($name:literal, fn($($type:ty),*) -> $result:ty $(, $argument:expr)*) => {{
        static FOUND: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let function = $crate::real::pointer::<unsafe extern "C" fn($($type),*) -> $result>(&FOUND, $name);
        // SAFETY: the caller's arguments, passed on.
        unsafe { function($($argument),*) }
    }};
}
pub(crate) use pass;

/// The next function of a name, as a pointer to a function of its type; `found` keeps it.
#[inline(always)]
pub(crate) fn pointer<F: Copy>(found: &AtomicUsize, name: &CStr) -> F {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    let mut address = found.load(Relaxed);
    if address == 0 {
        address = find(name);
        found.store(address, Relaxed);
    }
    // SAFETY: the function of this name has this type.
    unsafe { std::mem::transmute_copy(&address) }
}

#[cold]
fn find(name: &CStr) -> usize {
    // SAFETY: the name is a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    if address == 0 {
        sys::write(2, b"unpick: the C library has no function `");
        sys::write(2, name.to_bytes());
        sys::write(2, b"`, which the program uses\n");
        sys::exit(2);
    }
    address
}
