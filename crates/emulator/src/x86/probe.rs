//! Whether memory may be read, written or executed, asked of the kernel, which does not crash.
//!
//! Reading our own memory with `process_vm_readv` fails where a load would. Where that call is not
//! permitted, `/proc/self/maps` is read instead; this alone also says what is executable. Nothing here
//! goes through the C library: it would change `errno`, which the program may look at.

use std::arch::asm;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::log::PAGE;

/// Set when the kernel has refused to copy our own memory.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Asks about the memory of this process.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    /// The number of the process, which is another one after a fork.
    process: usize,
}

impl Probe {
    /// How many pages can be asked about at once.
    pub(crate) const PAGES: usize = 32;

    pub(crate) fn new() -> Probe {
        // SAFETY: it has no arguments, and changes nothing.
        Probe { process: unsafe { syscall(libc::SYS_getpid, [0; 6]) } as usize }
    }

    /// Whether the page at this address may be read.
    pub(crate) fn readable(self, page: usize) -> bool {
        self.read(page, &mut [0])
    }

    /// How many of these pages, at most `PAGES` and counted from the first, may be read.
    pub(crate) fn count_readable(self, pages: &[usize]) -> usize {
        let mut bytes = [0_u8; Probe::PAGES];
        if pages.is_empty() || pages.len() > bytes.len() || REFUSED.load(Ordering::Relaxed) {
            return 0;
        }
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: pages.len() };
        let mut remote = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 1 }; Probe::PAGES];
        for (part, &page) in remote.iter_mut().zip(pages) {
            part.iov_base = page as *mut libc::c_void;
        }
        let (local, remote) = (&raw const local as usize, remote.as_ptr() as usize);
        // SAFETY: it writes to the buffer only.
        let done =
            unsafe { syscall(libc::SYS_process_vm_readv, [self.process, local, 1, remote, pages.len(), 0]) };
        usize::try_from(done).map_or(0, |done| done.min(pages.len()))
    }

    /// Whether the byte at this address, and so its page, may be written.
    ///
    /// # Safety
    /// It may be read, and nobody else writes it now.
    pub(crate) unsafe fn writable(self, address: usize) -> bool {
        // SAFETY: promised by the caller.
        let mut byte = [unsafe { (address as *const u8).read_volatile() }];
        match self.copy(libc::SYS_process_vm_writev, address, &mut byte) {
            Some(done) => done,
            None => mapped(address, b"w").is_some(),
        }
    }

    /// Copies bytes that lie in one page out of our own memory, if they may be read.
    pub(crate) fn read(self, address: usize, bytes: &mut [u8]) -> bool {
        match self.copy(libc::SYS_process_vm_readv, address, bytes) {
            Some(done) => done,
            None => {
                if mapped(address, b"r").is_none() {
                    return false;
                }
                // SAFETY: the page is mapped and may be read.
                unsafe {
                    std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), bytes.len());
                }
                true
            }
        }
    }

    /// Copies between our own memory and a buffer, by the kernel. None if it refuses to do that at all.
    fn copy(self, call: i64, address: usize, bytes: &mut [u8]) -> Option<bool> {
        if REFUSED.load(Ordering::Relaxed) {
            return None;
        }
        debug_assert!(address % PAGE + bytes.len() <= PAGE);
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
        let (local, remote) = (&raw const local as usize, &raw const remote as usize);
        // SAFETY: it writes to the buffer, which is borrowed, or to the address what is there already.
        let done = unsafe { syscall(call, [self.process, local, 1, remote, 1, 0]) };
        let errors = [libc::EPERM, libc::ENOSYS, libc::EACCES, libc::ESRCH];
        if errors.iter().any(|&error| done == -i64::from(error)) {
            REFUSED.store(true, Ordering::Relaxed);
            return None;
        }
        Some(usize::try_from(done) == Ok(bytes.len()))
    }
}

/// The addresses around this one that are mapped with these permissions, of `r`, `w`, `x`.
pub(crate) fn mapped(address: usize, permissions: &[u8]) -> Option<std::ops::Range<usize>> {
    let file = open_maps()?;
    let found = find_line(file, address, permissions);
    // SAFETY: the descriptor is ours.
    unsafe { syscall(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
    found
}

fn open_maps() -> Option<usize> {
    let path = c"/proc/self/maps";
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: the path is a string that ends in zero.
    let file = unsafe { syscall(libc::SYS_open, [path.as_ptr() as usize, flags, 0, 0, 0, 0]) };
    usize::try_from(file).ok()
}

/// Looks for the line of an address: `5581c000-5581d000 r-xp ... path`.
fn find_line(file: usize, address: usize, permissions: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut line = [0_u8; 128];
    let mut len = 0;
    let mut buffer = [0_u8; 1024];
    loop {
        let arguments = [file, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the kernel writes into the buffer only.
        let size = usize::try_from(unsafe { syscall(libc::SYS_read, arguments) }).ok()?;
        if size == 0 {
            return None;
        }
        for &byte in &buffer[..size] {
            if byte != b'\n' {
                if len < line.len() {
                    line[len] = byte;
                    len += 1;
                }
                continue;
            }
            if let Some((range, allowed)) = parse(&line[..len], permissions)
                && range.contains(&address)
            {
                return allowed.then_some(range);
            }
            len = 0;
        }
    }
}

fn parse(line: &[u8], permissions: &[u8]) -> Option<(std::ops::Range<usize>, bool)> {
    let line = std::str::from_utf8(line).ok()?;
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
    // What the kernel shows of its clocks changes by itself.
    let given = rest.as_bytes().get(..4)?;
    let allowed = permissions.iter().all(|byte| given.contains(byte)) && !line.contains("[vvar");
    Some((range, allowed))
}

/// # Safety
/// As the system call asks for.
pub(crate) unsafe fn syscall(number: i64, arguments: [usize; 6]) -> i64 {
    let result: i64;
    // SAFETY: promised by the caller; the kernel changes rax, rcx and r11 only.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0], in("rsi") arguments[1], in("rdx") arguments[2],
            in("r10") arguments[3], in("r8") arguments[4], in("r9") arguments[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_and_its_table_say_the_same() {
        let local = 5_u8;
        let (stack, code) = (&raw const local as usize, Probe::new as *const () as usize);
        let page = |address: usize| address / PAGE * PAGE;
        let constant = "text".as_ptr() as usize;
        for refused in [false, true] {
            REFUSED.store(refused, Ordering::Relaxed);
            let probe = Probe::new();
            assert!(probe.readable(page(stack)) && probe.readable(page(constant)));
            assert!(!probe.readable(0) && !probe.readable(usize::MAX / PAGE * PAGE));
            // SAFETY: all of it may be read, and nobody else writes it.
            unsafe { assert!(probe.writable(stack) && !probe.writable(code) && !probe.writable(constant)) };
            let mut bytes = [0];
            assert!(probe.read(stack, &mut bytes) && bytes == [5]);
            let pages = [page(stack), page(constant), 0, page(stack)];
            assert_eq!(probe.count_readable(&pages), if refused { 0 } else { 2 });
        }
        REFUSED.store(false, Ordering::Relaxed);
        assert!(mapped(code, b"x").is_some_and(|range| range.contains(&code)));
        assert!(mapped(code, b"w").is_none() && mapped(stack, b"x").is_none() && mapped(0, b"r").is_none());
    }
}
