//! Open files: each execution finds them as they were before the first.
//!
//! Files that were open then stand where they stood, even if the program has closed them; those that an execution leaves open are
//! closed. What is written to files is not taken back.

use crate::sys;

/// Descriptors from here on are the engine's own.
pub(crate) const OWN: usize = 1000;

/// So many executions are looked at closely, and then one in so many, until one leaves a file open.
const CLOSELY: u32 = 64;

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
            Some(Kept { number, copy: apart(number)?, offset })
        };
        Files { kept: open_now().into_iter().filter_map(keep).collect(), ended: 0, leaves: false }
    }

    /// Brings them back, after an execution.
    pub(crate) fn restore(&mut self) {
        for &Kept { number, copy, offset } in &self.kept {
            call(libc::SYS_dup2, [copy, number, 0]);
            if let Some(offset) = offset {
                call(libc::SYS_lseek, [copy, offset, libc::SEEK_SET as usize]);
            }
        }
        self.ended = self.ended.wrapping_add(1);
        if self.leaves || self.ended < CLOSELY || self.ended.is_multiple_of(CLOSELY) {
            for number in open_now() {
                if self.kept.iter().all(|kept| kept.number != number) {
                    self.leaves = true;
                    call(libc::SYS_close, [number, 0, 0]);
                }
            }
        }
    }
}
