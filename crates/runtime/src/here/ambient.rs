//! Thread-locals of the thread that asks for a check, where they are not unpick's own.
//!
//! All threads under test run on one OS thread and share what it has of `std`'s thread-locals. A thread that is given up
//! half way leaves them as they are: a guard on its stack never puts back what was there before. On a thread of the
//! check's own that ends with the check. Here it would be the caller's, so what was there before the execution is put
//! back, and the check moves. It also moves if the first execution, which is thrown away, has such data in use while
//! threads take turns.

use std::ops::Range;

use crate::loaded;

/// The thread-locals of the program on this OS thread.
#[derive(Debug)]
pub(crate) struct Ambient {
    /// The parts of them between unpick's own, and what they were when the execution began.
    parts: Vec<Part>,
    /// Whether threads have taken turns while they were different.
    pub(crate) used: bool,
    /// Whether something was put back.
    pub(crate) restored: bool,
}

#[derive(Debug)]
struct Part {
    start: *mut u8,
    saved: Box<[u8]>,
}

impl Ambient {
    /// Finds them. `own` are the thread-locals of unpick itself.
    pub(crate) fn find(mut own: [Range<usize>; 4]) -> Option<Ambient> {
        own.sort_unstable_by_key(|own| own.start);
        let place = |place: &Range<usize>| place.contains(&own[0].start);
        let all = loaded::find(|info, header| loaded::place_of_thread(info, header).filter(place))?;
        let starts = std::iter::once(all.start).chain(own.iter().map(|own| own.end));
        let ends = own.iter().map(|own| own.start).chain([all.end]);
        let parts = starts.zip(ends).filter(|(start, end)| start < end);
        let part = |(start, end)| Part { start: start as *mut u8, saved: vec![0; end - start].into() };
        Some(Ambient { parts: parts.map(part).collect(), used: false, restored: false })
    }

    /// An execution begins.
    pub(crate) fn save(&mut self) {
        for part in &mut self.parts {
            // SAFETY: the part lives as long as the OS thread, which is this one; nobody has a reference into it while
            // no thread under test runs.
            unsafe { part.start.copy_to_nonoverlapping(part.saved.as_mut_ptr(), part.saved.len()) };
        }
    }

    /// Takes note of whether they are in use, now that a thread is left.
    pub(crate) fn look(&mut self) {
        self.used |= self.is_changed();
    }

    /// Whether they are not what they were when the execution began.
    pub(crate) fn is_changed(&self) -> bool {
        self.parts.iter().any(|part| {
            // SAFETY: as above.
            let now = unsafe { std::slice::from_raw_parts(part.start, part.saved.len()) };
            now != &*part.saved
        })
    }

    /// Puts back what was there when the execution began.
    pub(crate) fn restore(&mut self) {
        (self.used, self.restored) = (true, true);
        for part in &mut self.parts {
            // SAFETY: as above; what was there then was valid, and what it owned has not been freed by the guards of
            // threads that were given up.
            unsafe { part.start.copy_from_nonoverlapping(part.saved.as_ptr(), part.saved.len()) };
        }
    }
}
