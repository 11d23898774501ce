//! Functions of the C library that copy and compare bytes: to the program they are plain accesses.
//!
//! The engine and its standard library call them as well, and often. So the entries look who has called before anything
//! else, and jump to the C library's function if it is not the program.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::abi_plain::access;
use crate::sys;

/// Defines functions of the C library that are announced as plain accesses: the name, where the C library's function is
/// kept, what the program gets, and what is done until the C library's function is known.
macro_rules! functions {
    ($($name:ident $found:ident => $checked:ident, $early:ident;)*) => {
        $(
            static $found: AtomicUsize = AtomicUsize::new(0);
        )*

        /// Finds the C library's functions.
        pub(crate) fn prepare() {
            $(
                let name = concat!(stringify!($name), "\0").as_ptr();
                // SAFETY: a C string.
                let function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.cast()) };
                $found.store(function as usize, Relaxed);
            )*
        }

        mod exports {
            $(
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                unsafe extern "C" fn $name() {
                    std::arch::naked_asm!(
                        "cmp byte ptr [rip + {mode}], {program}",
                        "je 2f",
                        "mov rax, [rip + {found}]",
                        "test rax, rax",
                        "je 3f",
                        "jmp rax",
                        "2:",
                        "mov rax, [rsp]",
                        "mov [rip + {site}], rax",
                        "jmp {checked}",
                        "3:",
                        "jmp {early}",
                        mode = sym $crate::mode::MODE,
                        program = const $crate::mode::PROGRAM,
                        found = sym super::$found,
                        site = sym $crate::entry::PLAIN_SITE,
                        checked = sym super::$checked,
                        early = sym super::$early,
                    )
                }
            )*
        }
    };
}

functions! {
    memcpy MEMCPY => copy, copy_slowly;
    memmove MEMMOVE => shift, shift_slowly;
    memset MEMSET => fill, fill_slowly;
    strlen STRLEN => length, length_slowly;
    strcpy STRCPY => copy_text, copy_text_slowly;
}

unsafe extern "C" fn copy(to: usize, from: usize, size: usize) -> usize {
    access(from, size, false);
    access(to, size, true);
    // SAFETY: the caller's promise.
    unsafe { sys::copy(to, from, size) };
    to
}

unsafe extern "C" fn copy_slowly(to: usize, from: usize, size: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { sys::copy(to, from, size) };
    to
}

unsafe extern "C" fn shift(to: usize, from: usize, size: usize) -> usize {
    access(from, size, false);
    access(to, size, true);
    // SAFETY: the caller's promise.
    unsafe { shift_slowly(to, from, size) }
}

unsafe extern "C" fn shift_slowly(to: usize, from: usize, size: usize) -> usize {
    // SAFETY: the caller's promise; in the direction in which nothing is overwritten before it is read.
    unsafe {
        if to.wrapping_sub(from) >= size {
            sys::copy(to, from, size);
        } else {
            for at in (0..size).rev() {
                let byte = std::ptr::read_volatile((from + at) as *const u8);
                std::ptr::write_volatile((to + at) as *mut u8, byte);
            }
        }
    }
    to
}

unsafe extern "C" fn fill(to: usize, value: i32, size: usize) -> usize {
    access(to, size, true);
    // SAFETY: the caller's promise.
    unsafe { fill_slowly(to, value, size) }
}

unsafe extern "C" fn fill_slowly(to: usize, value: i32, size: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { sys::fill(to, value as u8, size) };
    to
}

unsafe extern "C" fn length(text: usize) -> usize {
    // SAFETY: the caller's promise.
    let length = unsafe { length_slowly(text) };
    access(text, length + 1, false);
    length
}

unsafe extern "C" fn length_slowly(text: usize) -> usize {
    let mut length = 0;
    // SAFETY: the caller's promise.
    while unsafe { std::ptr::read_volatile((text + length) as *const u8) } != 0 {
        length += 1;
    }
    length
}

unsafe extern "C" fn copy_text(to: usize, from: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, length_slowly(from) + 1) }
}

unsafe extern "C" fn copy_text_slowly(to: usize, from: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { copy_slowly(to, from, length_slowly(from) + 1) }
}
