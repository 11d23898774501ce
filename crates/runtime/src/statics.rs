//! Objects in static memory: their contents are put back after each execution.

use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::{arena, current, loaded};

/// Held by a check from the first time that an execution uses a static with contents in memory
/// until the execution ends: such statics are shared by all checks of the process.
static IN_USE: Mutex<()> = Mutex::new(());

/// The statics that an execution has used.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    /// Contents that were there before the execution.
    saved: Vec<(*mut u8, Box<[u8]>)>,
    held: Option<MutexGuard<'static, ()>>,
    /// Locations or cells of objects, by address.
    numbers: Vec<(usize, u32)>,
}

impl Statics {
    /// The number of an object in this run.
    pub(crate) fn number(&self, address: usize) -> Option<u32> {
        self.numbers.iter().find(|(known, _)| *known == address).map(|&(_, number)| number)
    }

    /// The numbers of all objects in this run.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.numbers.iter().map(|&(_, number)| number)
    }

    /// Gives an object its number in this run.
    pub(crate) fn set_number(&mut self, address: usize, number: u32) {
        self.numbers.push((address, number));
    }

    /// Saves the contents of an object at its first use in an execution.
    pub(crate) fn save(&mut self, object: *mut u8, size: usize) {
        if size == 0 || self.saved.iter().any(|(known, _)| *known == object) {
            return;
        }
        if self.held.is_none() {
            self.held = Some(IN_USE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        // SAFETY: the caller passes an object of static storage, of this size, that no other
        // thread is using.
        let bytes = unsafe { std::slice::from_raw_parts(object, size) };
        self.saved.push((object, bytes.into()));
    }

    /// Puts all contents back, and forgets the objects. What was saved first comes last: an object may be in another, and have changed
    /// by the time that it was used itself.
    pub(crate) fn restore(&mut self) {
        self.numbers.clear();
        for (object, bytes) in self.saved.drain(..).rev() {
            // SAFETY: as in `save`; the execution that used the object is over.
            unsafe { object.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        self.held = None;
    }
}

/// Keeps other checks away from the contents of an object until the execution ends, if the object is static. For
/// those who look at the contents before their first op on it.
///
/// # Panics
///
/// Outside a check.
pub fn claim((start, size): (*mut u8, usize)) {
    if !is_static(start as usize) {
        return;
    }
    let (session, _) = current::context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers, and no reference to it is in use while one runs.
    unsafe { (*session).objects.statics.save(start, size) };
    arena::enter(arena);
}

/// Whether the address is in the static memory of the program or of a library.
pub fn is_static(address: usize) -> bool {
    static SEGMENTS: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    SEGMENTS.get_or_init(|| segments(0)).iter().any(|&(start, end)| (start..end).contains(&address))
}

/// The memory that is written to of all loaded objects: their static memory, and what they have for
/// the calling OS thread.
pub(crate) fn writable() -> Vec<(usize, usize)> {
    segments(libc::PF_W)
}

/// The loaded segments of all objects that have these flags. If flags are asked for, the segments
/// that belong to the calling OS thread are among them.
fn segments(flags: u32) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    loaded::find(|info, header| {
        let place = match header.p_type {
            libc::PT_LOAD => (header.p_flags & flags == flags).then(|| loaded::place(info, header)),
            _ => loaded::place_of_thread(info, header).filter(|_| flags != 0),
        };
        found.extend(place.map(|place| (place.start, place.end)));
        None::<()>
    });
    found
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn contents_are_put_back_as_they_were_at_the_first_use() {
        static VALUE: AtomicU32 = AtomicU32::new(7);
        let object = VALUE.as_ptr().cast::<u8>();
        let mut statics = Statics::default();
        statics.save(object, size_of::<u32>());
        VALUE.store(8, Ordering::Relaxed);
        statics.save(object, size_of::<u32>());
        VALUE.store(9, Ordering::Relaxed);
        statics.restore();
        assert_eq!(VALUE.load(Ordering::Relaxed), 7);
        VALUE.store(10, Ordering::Relaxed);
        statics.restore();
        assert_eq!(VALUE.load(Ordering::Relaxed), 10, "it has not been used since");
    }

    #[test]
    fn an_object_in_another_is_put_back_with_it() {
        static PAIR: [AtomicU32; 2] = [AtomicU32::new(1), AtomicU32::new(2)];
        let both = PAIR[0].as_ptr().cast::<u8>();
        let mut statics = Statics::default();
        statics.save(both, size_of::<[u32; 2]>());
        PAIR[1].store(9, Ordering::Relaxed);
        statics.save(PAIR[1].as_ptr().cast::<u8>(), size_of::<u32>());
        statics.restore();
        assert_eq!(PAIR[1].load(Ordering::Relaxed), 2);
    }

    #[test]
    fn an_object_without_contents_is_not_kept_from_others() {
        let mut statics = Statics::default();
        statics.save(std::ptr::dangling_mut(), 0);
        assert!(statics.held.is_none() && statics.saved.is_empty());
    }

    #[test]
    fn numbers_are_of_one_run() {
        let mut statics = Statics::default();
        statics.set_number(64, 3);
        statics.set_number(128, 5);
        assert_eq!([64, 128, 192].map(|address| statics.number(address)), [Some(3), Some(5), None]);
        assert!(statics.numbers().eq([3, 5]));
        statics.restore();
        assert_eq!(statics.number(64), None);
    }

    #[test]
    fn static_memory_is_told_from_stack_and_heap() {
        static VALUE: AtomicU32 = AtomicU32::new(7);
        let (local, boxed) = (0u8, Box::new(0u8));
        assert!(is_static(&raw const VALUE as usize));
        assert!(!is_static(&raw const local as usize) && !is_static(&raw const *boxed as usize));
        let is_written =
            |address: usize| writable().iter().any(|&(start, end)| (start..end).contains(&address));
        assert!(is_written(&raw const VALUE as usize));
        assert!(!is_written(is_static as *const () as usize), "code is not written to");
    }
}
