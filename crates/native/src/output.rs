//! What the program writes: it goes nowhere, unless an execution is run again to tell about it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd};

use crate::files;
use crate::sys;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
    fn __fpending(file: *mut libc::FILE) -> usize;
    fn fflush_unlocked(file: *mut libc::FILE) -> i32;
}

fn duplicate(from: i32, to: i32) {
    // SAFETY: both are descriptors of the process.
    unsafe { sys::call(libc::SYS_dup2, [from as usize, to as usize, 0, 0, 0, 0]) };
}

/// Lets the output of the program go nowhere.
pub(crate) fn drop_all() {
    if let Ok(nowhere) = File::options().read(true).write(true).open("/dev/null") {
        for descriptor in 0..3 {
            duplicate(nowhere.as_raw_fd(), descriptor);
        }
    }
}

/// Output that is kept.
pub(crate) struct Kept {
    files: [Option<File>; 2],
}

impl Kept {
    /// Keeps the output from now on.
    pub(crate) fn begin() -> Kept {
        let make = |descriptor: i32| {
            let name = c"output";
            // SAFETY: the name is a C string.
            let made = unsafe { sys::call(libc::SYS_memfd_create, [name.as_ptr() as usize, 1, 0, 0, 0, 0]) };
            if made < 0 {
                return None;
            }
            duplicate(made as i32, descriptor);
            // The program gets the numbers that it gets without this.
            let apart = files::apart(made as usize);
            // SAFETY: the descriptors are new, and ours.
            unsafe {
                sys::call(libc::SYS_close, [made as usize, 0, 0, 0, 0, 0]);
                apart.map(|apart| File::from_raw_fd(apart as i32))
            }
        };
        Kept { files: [make(1), make(2)] }
    }

    /// What was written.
    pub(crate) fn end(self) -> [String; 2] {
        drop_all();
        self.files.map(|file| {
            let mut bytes = Vec::new();
            if let Some(mut file) = file {
                // What cannot be read is not shown.
                let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
}

/// Lets the streams of the C library pass on what they hold, at the end of an execution.
pub(crate) fn end() {
    // SAFETY: the streams of the C library; no thread of the program runs.
    unsafe {
        for stream in [stdout, stderr] {
            if __fpending(stream) > 0 {
                // A thread that was stopped while it printed still has the lock.
                fflush_unlocked(stream);
            }
        }
    }
}
