//! Functions of the C library that copy and compare bytes: to the program they are plain accesses.
//!
//! The engine and its standard library call them as well, and often. So the entries look who has called before anything
//! else, and jump to the C library's function if it is not the program.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::abi_plain::access;
use crate::real::pass;
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
    stpcpy STPCPY => copy_text_to_end, copy_text_to_end_slowly;
    strncpy STRNCPY => copy_part, copy_part_slowly;
    strcat STRCAT => append, append_slowly;
    strncat STRNCAT => append_part, append_part_slowly;
    strnlen STRNLEN => length_within, length_within_slowly;
    memcmp MEMCMP => compare, compare_slowly;
    bcmp BCMP => compare, compare_slowly;
    strcmp STRCMP => compare_text, compare_text_slowly;
    strncmp STRNCMP => compare_part, compare_part_slowly;
    memchr MEMCHR => find, find_slowly;
    strchr STRCHR => find_in_text, find_in_text_slowly;
    strrchr STRRCHR => find_last, find_last_slowly;
    strdup STRDUP => duplicate, duplicate_unseen;
}

pub(crate) unsafe extern "C" fn copy(to: usize, from: usize, size: usize) -> usize {
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

pub(crate) unsafe extern "C" fn shift(to: usize, from: usize, size: usize) -> usize {
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

pub(crate) unsafe extern "C" fn fill(to: usize, value: i32, size: usize) -> usize {
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

/// A byte, read in a way that the compiler does not turn into a call of one of these functions.
unsafe fn byte(at: usize) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::read_volatile(at as *const u8) }
}

unsafe extern "C" fn copy_text_to_end(to: usize, from: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let length = length_slowly(from);
        copy(to, from, length + 1) + length
    }
}

unsafe extern "C" fn copy_text_to_end_slowly(to: usize, from: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let length = length_slowly(from);
        copy_slowly(to, from, length + 1) + length
    }
}

unsafe extern "C" fn length_within(text: usize, most: usize) -> usize {
    // SAFETY: the caller's promise.
    let length = unsafe { length_within_slowly(text, most) };
    access(text, most.min(length + 1), false);
    length
}

unsafe extern "C" fn length_within_slowly(text: usize, most: usize) -> usize {
    let mut length = 0;
    // SAFETY: the caller's promise.
    while length < most && unsafe { byte(text + length) } != 0 {
        length += 1;
    }
    length
}

unsafe extern "C" fn copy_part(to: usize, from: usize, size: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        length_within(from, size);
        access(to, size, true);
        copy_part_slowly(to, from, size)
    }
}

unsafe extern "C" fn copy_part_slowly(to: usize, from: usize, size: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let length = length_within_slowly(from, size);
        sys::copy(to, from, length);
        sys::fill(to + length, 0, size - length);
    }
    to
}

unsafe extern "C" fn append(to: usize, from: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let end = to + length(to);
        copy(end, from, length_slowly(from) + 1);
    }
    to
}

unsafe extern "C" fn append_slowly(to: usize, from: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { copy_text_slowly(to + length_slowly(to), from) };
    to
}

unsafe extern "C" fn append_part(to: usize, from: usize, most: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let end = to + length(to);
        access(end, length_within(from, most) + 1, true);
        append_part_slowly(to, from, most)
    }
}

unsafe extern "C" fn append_part_slowly(to: usize, from: usize, most: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let (end, count) = (to + length_slowly(to), length_within_slowly(from, most));
        sys::copy(end, from, count);
        sys::fill(end + count, 0, 1);
    }
    to
}

/// How many bytes of two ranges are looked at: all, or up to the first that differ, or, in texts, that end them.
unsafe fn compared(one: usize, other: usize, most: usize, texts: bool) -> usize {
    for at in 0..most {
        // SAFETY: the caller's promise.
        let (left, right) = unsafe { (byte(one + at), byte(other + at)) };
        if left != right || (texts && left == 0) {
            return at + 1;
        }
    }
    most
}

/// The difference of the last of so many bytes.
unsafe fn difference(one: usize, other: usize, count: usize) -> i32 {
    match count.checked_sub(1) {
        // SAFETY: the caller's promise.
        Some(last) => unsafe { i32::from(byte(one + last)) - i32::from(byte(other + last)) },
        None => 0,
    }
}

/// Compares, as the program has asked for.
unsafe fn compare_seen(one: usize, other: usize, most: usize, texts: bool) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let count = compared(one, other, most, texts);
        access(one, count, false);
        access(other, count, false);
        difference(one, other, count)
    }
}

unsafe extern "C" fn compare(one: usize, other: usize, size: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { compare_seen(one, other, size, false) }
}

unsafe extern "C" fn compare_slowly(one: usize, other: usize, size: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { difference(one, other, compared(one, other, size, false)) }
}

unsafe extern "C" fn compare_text(one: usize, other: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { compare_seen(one, other, usize::MAX, true) }
}

unsafe extern "C" fn compare_text_slowly(one: usize, other: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { difference(one, other, compared(one, other, usize::MAX, true)) }
}

unsafe extern "C" fn compare_part(one: usize, other: usize, most: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { compare_seen(one, other, most, true) }
}

unsafe extern "C" fn compare_part_slowly(one: usize, other: usize, most: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { difference(one, other, compared(one, other, most, true)) }
}

unsafe extern "C" fn find(start: usize, wanted: i32, size: usize) -> usize {
    // SAFETY: the caller's promise.
    let found = unsafe { find_slowly(start, wanted, size) };
    access(start, if found == 0 { size } else { found - start + 1 }, false);
    found
}

unsafe extern "C" fn find_slowly(start: usize, wanted: i32, size: usize) -> usize {
    // SAFETY: the caller's promise.
    let found = (start..start.saturating_add(size)).find(|&at| unsafe { byte(at) } == wanted as u8);
    found.unwrap_or(0)
}

unsafe extern "C" fn find_in_text(text: usize, wanted: i32) -> usize {
    // SAFETY: the caller's promise.
    let found = unsafe { find_in_text_slowly(text, wanted) };
    // SAFETY: as above.
    let last = if found == 0 { text + unsafe { length_slowly(text) } } else { found };
    access(text, last - text + 1, false);
    found
}

unsafe extern "C" fn find_in_text_slowly(text: usize, wanted: i32) -> usize {
    // SAFETY: the caller's promise.
    unsafe { find_slowly(text, wanted, length_slowly(text) + 1) }
}

unsafe extern "C" fn find_last(text: usize, wanted: i32) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        length(text);
        find_last_slowly(text, wanted)
    }
}

unsafe extern "C" fn find_last_slowly(text: usize, wanted: i32) -> usize {
    // SAFETY: the caller's promise.
    let found =
        (text..=text + unsafe { length_slowly(text) }).rfind(|&at| unsafe { byte(at) } == wanted as u8);
    found.unwrap_or(0)
}

/// The C library allocates the copy, by a call that comes back here.
unsafe extern "C" fn duplicate(text: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        length(text);
        duplicate_unseen(text)
    }
}

unsafe extern "C" fn duplicate_unseen(text: usize) -> usize {
    pass!(c"strdup", fn(usize) -> usize, text)
}
