//! Offsets of files that rounds of loops use.
//!
//! The offset of a file is kept by the kernel. A round that only looks at it, or leaves it where it was, can be tried
//! all the same: the offset belongs to the state of the thread.

use unpick_core::op::ThreadId;

use crate::sys;

/// Files of one thread whose offsets are followed.
const MOST: usize = 4;

/// What is assumed of such files.
pub(crate) const ASSUMPTION: &str = "no other thread uses files whose offset a round of a loop uses";

/// Files by their descriptors, with their offsets.
pub(crate) type Offsets = [Option<(i32, i64)>; MOST];

/// The files whose offsets rounds use, each with the thread whose rounds do.
#[derive(Debug, Default)]
pub(crate) struct Seeks {
    known: Vec<(i32, ThreadId)>,
}

impl Seeks {
    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    /// Notes that a round of the thread uses the offset of a file. Whether that is followed: only if rounds of no other thread
    /// do, and if there are not too many files.
    pub(crate) fn add(&mut self, file: i32, thread: ThreadId) -> bool {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == file) {
            return *known == thread;
        }
        let room = self.of(thread).count() < MOST;
        if room {
            self.known.push((file, thread));
        }
        room
    }

    fn of(&self, thread: ThreadId) -> impl Iterator<Item = i32> {
        self.known.iter().filter(move |(_, known)| *known == thread).map(|(file, _)| *file)
    }

    /// Where the files of a thread stand.
    pub(crate) fn offsets(&self, thread: ThreadId) -> Offsets {
        let mut offsets = Offsets::default();
        for (place, file) in offsets.iter_mut().zip(self.of(thread)) {
            *place = offset(file).map(|offset| (file, offset));
        }
        offsets
    }
}

/// Where a file stands, if it is open and has places.
pub(crate) fn offset(file: i32) -> Option<i64> {
    seek(file, 0, libc::SEEK_CUR)
}

/// Moves the offset of a file; where it is then, if that is possible.
pub(crate) fn seek(file: i32, to: i64, whence: i32) -> Option<i64> {
    let arguments = [file as usize, to as usize, whence as usize, 0, 0, 0];
    // SAFETY: the call concerns no memory.
    let offset = unsafe { sys::call(libc::SYS_lseek, arguments) } as i64;
    (offset >= 0).then_some(offset)
}

/// Notes where a file stands, unless that is noted.
pub(crate) fn note(noted: &mut Offsets, file: i32) {
    if noted.iter().flatten().any(|(known, _)| *known == file) {
        return;
    }
    if let Some(free) = noted.iter_mut().find(|place| place.is_none()) {
        *free = offset(file).map(|offset| (file, offset));
    }
}

/// Puts files back to where they were noted to be; whether any was elsewhere.
pub(crate) fn put_back(noted: &Offsets) -> bool {
    noted.iter().flatten().fold(false, |moved, &(file, before)| {
        let now = offset(file);
        seek(file, before, libc::SEEK_SET);
        moved || now != Some(before)
    })
}
