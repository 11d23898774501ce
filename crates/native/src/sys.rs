//! System calls that do not go through the C library, whose functions this library stands in front of.

use std::arch::asm;

/// Makes a system call; the result is negative when it failed.
///
/// # Safety
///
/// As for the system call.
#[inline(always)]
pub(crate) unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let result: isize;
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the kernel keeps all registers but these; the rest is the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Ends the process.
pub(crate) fn exit(code: i32) -> ! {
    loop {
        // SAFETY: ends the process, and touches no memory.
        unsafe { call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Writes bytes to a file descriptor, as far as it takes them.
pub(crate) fn write(descriptor: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable.
        let done = unsafe {
            call(libc::SYS_write, [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0])
        };
        match done {
            done if done > 0 => bytes = &bytes[done as usize..],
            done if done == -(libc::EINTR as isize) => {}
            _ => return,
        }
    }
}

/// Maps memory that reads as zero: anywhere if `at` is 0, else just there.
pub(crate) fn map(at: usize, size: usize) -> Option<usize> {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let fixed = if at == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed) as usize;
    // SAFETY: a new mapping, which replaces none.
    let address = unsafe { call(libc::SYS_mmap, [at, size, protection, flags, usize::MAX, 0]) };
    (address > 0 && (at == 0 || address as usize == at)).then_some(address as usize)
}

/// Whether the environment that the process was started with has a variable.
pub(crate) fn environment_has(name: &str) -> bool {
    let path = c"/proc/self/environ";
    // SAFETY: the path is a C string.
    let file = unsafe { call(libc::SYS_open, [path.as_ptr() as usize, libc::O_RDONLY as usize, 0, 0, 0, 0]) };
    if file < 0 {
        return false;
    }
    let mut buffer = [0u8; 1024];
    // How many bytes of the name the current variable begins with; `None`: it does not.
    let mut matched = Some(0);
    let mut found = false;
    while !found {
        let arguments = [file as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the buffer is writable.
        let count = unsafe { call(libc::SYS_read, arguments) };
        if count <= 0 {
            break;
        }
        for &byte in &buffer[..count as usize] {
            matched = match matched {
                _ if byte == 0 => Some(0),
                Some(length) if length == name.len() => {
                    found |= byte == b'=';
                    None
                }
                Some(length) if name.as_bytes()[length] == byte => Some(length + 1),
                _ => None,
            };
        }
    }
    // SAFETY: the descriptor is ours.
    unsafe { call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]) };
    found
}

/// Copies bytes without calling a function that the program could see.
///
/// # Safety
///
/// Both ranges are valid and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy(to: usize, from: usize, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rep movsb", inout("rcx") size => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
}

/// Fills bytes in the same way.
///
/// # Safety
///
/// The range is valid.
#[inline(always)]
pub(crate) unsafe fn fill(to: usize, value: u8, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rep stosb", inout("rcx") size => _, inout("rdi") to => _, in("al") value,
            options(nostack, preserves_flags));
    }
}
