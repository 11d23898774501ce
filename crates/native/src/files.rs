//! Open files: each execution finds them as they were before the first.
//!
//! Files that were open then stand where they stood, even if the program has closed them; those that an execution leaves open are
//! closed. What is written to files is not taken back.

use crate::sys;

/// Descriptors from here on are the engine's own.
pub(crate) const OWN: usize = 1000;

/// So many executions are looked at closely, until one leaves a file open.
const CLOSELY: u32 = 64;
/// Of those after them, one in so many is looked at in passing, and one in so many closely.
const IN_PASSING: u32 = 64;
const RARELY: u32 = 1 << 14;

/// A file that was open before the first execution.
#[derive(Debug)]
struct Kept {
    number: usize,
    /// Another descriptor of it, which the program does not know.
    copy: usize,
    /// Where it stood, if it has places.
    offset: Option<usize>,
}

/// The files of the program.
#[derive(Debug, Default)]
pub(crate) struct Files {
    kept: Vec<Kept>,
    /// The lowest number that is free.
    free: Option<usize>,
    /// How many executions there were.
    ended: u32,
    /// Whether executions leave files open.
    leaves: bool,
}

fn call(number: i64, arguments: [usize; 3]) -> Option<usize> {
    let [a, b, c] = arguments;
    // SAFETY: calls that concern descriptors only, and memory that is ours.
    usize::try_from(unsafe { sys::call(number, [a, b, c, 0, 0, 0]) }).ok()
}

/// Makes another descriptor, which the program does not know.
pub(crate) fn apart(number: usize) -> Option<usize> {
    call(libc::SYS_fcntl, [number, libc::F_DUPFD_CLOEXEC as usize, OWN])
}

/// Whether a descriptor is of a file that has places.
fn is_regular(number: usize) -> bool {
    let mut facts = std::mem::MaybeUninit::<libc::stat>::zeroed();
    let told = call(libc::SYS_fstat, [number, facts.as_mut_ptr() as usize, 0]).is_some();
    // SAFETY: zeroes are facts, and the kernel has written others over them.
    told && unsafe { facts.assume_init() }.st_mode & libc::S_IFMT == libc::S_IFREG
}

/// The lowest number that a file of the program would get.
fn lowest_free() -> Option<usize> {
    let number = call(libc::SYS_fcntl, [2, libc::F_DUPFD_CLOEXEC as usize, 3])?;
    call(libc::SYS_close, [number, 0, 0]);
    Some(number)
}

/// The descriptors of the program, but for its input and output.
fn open_now() -> Vec<usize> {
    let flags = (libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) as usize;
    let Some(folder) = call(libc::SYS_open, [c"/proc/self/fd".as_ptr() as usize, flags, 0]) else {
        return Vec::new();
    };
    let mut numbers = Vec::new();
    let mut buffer = [0u64; 256];
    let room = size_of_val(&buffer);
    while let Some(size @ 1..) = call(libc::SYS_getdents64, [folder, buffer.as_mut_ptr() as usize, room]) {
        let mut at = 0;
        while at < size {
            let entry = buffer.as_ptr() as usize + at;
            // SAFETY: the kernel has put entries there, each with its size, and a name that ends with a zero.
            let (length, name) = unsafe {
                let entry = entry as *const libc::dirent64;
                ((*entry).d_reclen, std::ffi::CStr::from_ptr((&raw const (*entry).d_name).cast()))
            };
            numbers.extend(name.to_str().ok().and_then(|name| name.parse::<usize>().ok()));
            at += usize::from(length);
        }
    }
    call(libc::SYS_close, [folder, 0, 0]);
    numbers.retain(|&number| number != folder && (3..OWN).contains(&number));
    numbers
}

impl Files {
    /// The files that are open now.
    pub(crate) fn take() -> Files {
        let keep = |number: usize| {
            let offset = call(libc::SYS_lseek, [number, 0, libc::SEEK_CUR as usize]);
            let offset = offset.filter(|_| is_regular(number));
            Some(Kept { number, copy: apart(number)?, offset })
        };
        let kept = open_now().into_iter().filter_map(keep).collect();
        Files { kept, free: lowest_free(), ended: 0, leaves: false }
    }

    /// Brings them back, after an execution.
    pub(crate) fn restore(&mut self) {
        let place = libc::SEEK_SET as usize;
        for &Kept { number, copy, offset } in &self.kept {
            // Whoever has closed it cannot place it.
            if let Some(offset) = offset
                && call(libc::SYS_lseek, [number, offset, place]).is_none()
            {
                call(libc::SYS_dup2, [copy, number, 0]);
                call(libc::SYS_lseek, [copy, offset, place]);
            }
        }
        self.ended = self.ended.wrapping_add(1);
        let closely = self.leaves || self.ended < CLOSELY || self.ended.is_multiple_of(RARELY);
        if closely || self.ended.is_multiple_of(IN_PASSING) && lowest_free() != self.free {
            for kept in &self.kept {
                call(libc::SYS_dup2, [kept.copy, kept.number, 0]);
            }
            for number in open_now() {
                if self.kept.iter().all(|kept| kept.number != number) {
                    self.leaves = true;
                    call(libc::SYS_close, [number, 0, 0]);
                }
            }
        }
    }
}
