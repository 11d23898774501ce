//! System calls that do not go through the C library, whose functions this library stands in front of.

use std::arch::asm;
use std::time::Duration;

use crate::files;

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

/// Maps memory that reads as zero, and is shared with the processes that are made later.
pub(crate) fn map_shared(size: usize) -> Option<usize> {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as usize;
    // SAFETY: a new mapping, which replaces none.
    let address = unsafe { call(libc::SYS_mmap, [0, size, protection, flags, usize::MAX, 0]) };
    (address > 0).then_some(address as usize)
}

/// Whether a descriptor has something to read, or has it within some time. A signal ends the wait.
pub(crate) fn is_readable(descriptor: i32, timeout: Duration) -> bool {
    let mut wanted = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    let time = libc::timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
    // No signal is blocked meanwhile.
    let mask = 0u64;
    let arguments = [&raw mut wanted as usize, 1, &raw const time as usize, &raw const mask as usize, 8, 0];
    // SAFETY: all places are valid.
    unsafe { call(libc::SYS_ppoll, arguments) > 0 }
}

/// Puts what some pages hold, as far as they are used, into a file in memory, and maps it in their place; the number of
/// the error if that cannot be done.
pub(crate) fn map_file(at: usize, size: usize, used: usize, sharing: i32) -> Result<(), isize> {
    const PAGE: usize = 4096;
    let done = |result: isize| if result < 0 { Err(-result) } else { Ok(result as usize) };
    // SAFETY: the name is a C string.
    let file = done(unsafe { call(libc::SYS_memfd_create, [c"memory".as_ptr() as usize, 1, 0, 0, 0, 0]) })?;
    // SAFETY: the file is ours.
    done(unsafe { call(libc::SYS_ftruncate, [file, size, 0, 0, 0, 0]) })?;
    // Pages of zeroes need not be written: the file has them already.
    for page in (at..at + used).step_by(PAGE) {
        // SAFETY: pages that nobody writes to now.
        let bytes = unsafe { std::slice::from_raw_parts(page as *const u8, PAGE) };
        if bytes.iter().any(|&byte| byte != 0) {
            let mut from = 0;
            while from < PAGE {
                let arguments = [file, page + from, PAGE - from, page - at + from, 0, 0];
                // SAFETY: the bytes are readable.
                from += done(unsafe { call(libc::SYS_pwrite64, arguments) })?;
            }
        }
    }
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (sharing | libc::MAP_FIXED | libc::MAP_NORESERVE) as usize;
    // SAFETY: the pages are replaced by a mapping that holds the same.
    let mapped = unsafe { call(libc::SYS_mmap, [at, size, protection, flags, file, 0]) };
    close(file as i32);
    done(mapped).map(|_| ())
}

/// Changes what may be done with some pages.
pub(crate) fn protect(at: usize, size: usize, protection: i32) {
    // SAFETY: pages of our own mappings; what cannot be changed stays as it is.
    unsafe { call(libc::SYS_mprotect, [at, size, protection as usize, 0, 0, 0]) };
}

/// Makes a copy of the process, of which the calling thread is the only one: 0 in the copy, and its number here.
///
/// The C library is not asked: it would take the stacks of the other threads for unused.
pub(crate) fn fork() -> isize {
    // SAFETY: as `fork` without the C library. What the copy runs is bound to no other thread.
    unsafe { call(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0, 0, 0]) }
}

/// Waits for a process of ours to end: its number and how it ended; `None` when there is none, or when none has ended
/// and `flags` say not to wait.
pub(crate) fn wait(process: i32, flags: i32) -> Option<(i32, i32)> {
    let mut status = 0i32;
    loop {
        let arguments = [process as isize as usize, &raw mut status as usize, flags as usize, 0, 0, 0];
        // SAFETY: the place for the status is valid.
        match unsafe { call(libc::SYS_wait4, arguments) } {
            ended @ 1.. => return Some((ended as i32, status)),
            failed if failed == -(libc::EINTR as isize) => {}
            _ => return None,
        }
    }
}

/// The number of this process.
pub(crate) fn own_process() -> i32 {
    // SAFETY: asks for a number.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// Sends a signal to this process, or to one that we have started.
pub(crate) fn kill(process: i32, signal: i32) {
    // SAFETY: touches no memory of this process.
    unsafe { call(libc::SYS_kill, [process as usize, signal as usize, 0, 0, 0, 0]) };
}

/// A pipe, its end for reading first, on descriptors above those that programs use.
pub(crate) fn pipe() -> Option<[i32; 2]> {
    let mut ends = [0i32; 2];
    // SAFETY: makes two descriptors, which are ours.
    let made =
        unsafe { call(libc::SYS_pipe2, [&raw mut ends as usize, libc::O_CLOEXEC as usize, 0, 0, 0, 0]) };
    if made < 0 {
        return None;
    }
    Some(ends.map(|end| {
        let Some(moved) = files::apart(end as usize) else { return end };
        close(end);
        moved as i32
    }))
}

/// Closes a descriptor of ours.
pub(crate) fn close(descriptor: i32) {
    // SAFETY: nobody else uses it.
    unsafe { call(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]) };
}

/// Reads what there is, up to the size of the buffer: how many bytes, 0 at the end, negative if it failed.
pub(crate) fn read(descriptor: i32, buffer: &mut [u8]) -> isize {
    loop {
        let arguments = [descriptor as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the buffer is writable.
        let count = unsafe { call(libc::SYS_read, arguments) };
        if count != -(libc::EINTR as isize) {
            return count;
        }
    }
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
