//! What counts order that the engine does not see: those of the standard library's `Arc`, and of all that counts as it does.
//!
//! Whoever lets go of a handle has done with it what it did, and whoever takes a count to zero comes after all who have
//! lowered it before. No event says so, but the counts are in plain sight: two words at the start of a block. Each time that the
//! running thread asks for something they are compared with what they were, and so
//!
//! - a count that has fallen was lowered by the thread that has run, which knew then what its clock says;
//! - a count that has fallen to zero has told that thread what all knew who lowered it before.
//!
//! This decides no verdict wrongly, whatever the two words are. Threads that change one and the same word without a race do so
//! in an order; if the engine sees what makes that order, the clocks of the events have it already. It is not so for words that threads
//! change by relaxed operations on atomics of `std`: those look like counts of an `Arc`.
//!
//! Two words are not compared in each block: only in those that began with a zero when a free needed an excuse, or that the freed block
//! hangs on. They are learnt by repeating the execution. A count that is lowered and raised between two operations of a thread does not
//! show. It need not: whoever has raised it has a handle more, and letting go of that one shows.
//!
//! Left out: who finds that it has the only handle, and changes no count (`Arc::get_mut`, `Arc::make_mut`), comes after the others
//! as well. If what is freed hangs on a block that has one handle left, the check ends with an error. Handles to blocks on the system heap are
//! left to [`Shared`](crate::memory::Shared).

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::execution::Execution;
use unpick_core::op::ThreadId;
use unpick_core::violation::Access;

use crate::arena::Arena;

/// Counts are smaller than this.
const MOST: usize = 1 << 31;

/// The bytes of two counts.
const SIZE: usize = size_of::<[usize; 2]>();

/// For each thread, how much of what it has done is known: twice the number of events, and one more if all is known that it has done
/// since the last of them.
type Moments = Vec<u32>;

/// Whose a block is, and where it begins.
pub(crate) type Place = (ThreadId, usize);

/// A block whose first words are compared.
#[derive(Debug)]
struct Counted {
    owner: ThreadId,
    start: usize,
    /// What they were, if they were counts.
    words: Option<[usize; 2]>,
    /// What those knew who have lowered each.
    released: [Moments; 2],
}

/// A thread has taken a count to zero.
#[derive(Debug)]
struct Acquired {
    thread: ThreadId,
    /// After how many of its events.
    position: u32,
    moments: Moments,
}

impl Acquired {
    /// Whether a thread comes after it.
    fn is_before(&self, thread: ThreadId, view: &[u32]) -> bool {
        let next = EventId { thread: self.thread, index: self.position };
        self.thread == thread || knows(view, next)
    }
}

/// Counts that are looked at.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    blocks: Vec<Counted>,
    acquired: Vec<Acquired>,
    /// Blocks that began with two zeros when they were freed in this run.
    emptied: Vec<Place>,
}

impl Counts {
    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.acquired.clear();
        self.emptied.clear();
        for block in &mut self.blocks {
            block.words = None;
            block.released.iter_mut().for_each(Vec::clear);
        }
    }

    /// Whether there is nothing to look at.
    #[inline(always)]
    pub(crate) fn are_none(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A block that is about to be freed.
    #[inline]
    pub(crate) fn freed(&mut self, owner: ThreadId, start: usize, size: usize) {
        // SAFETY: the block is there, and large enough.
        if size >= SIZE && unsafe { (start as *const [usize; 2]).read() == [0, 0] } {
            self.emptied.push((owner, start));
        }
    }

    /// Compares the words, which the thread has changed if they are not what they were.
    pub(crate) fn look(&mut self, arenas: &[Option<Box<Arena>>], by: &mut Execution, thread: ThreadId) {
        for number in 0..self.blocks.len() {
            let block = &mut self.blocks[number];
            let now = counts(arenas, block.owner, block.start);
            let before = std::mem::replace(&mut block.words, now);
            let (Some(before), Some(now)) = (before, now) else { continue };
            for word in 0..now.len() {
                if now[word] < before[word] {
                    self.lowered(number, word, now[word] == 0, by, thread);
                }
            }
        }
    }

    #[cold]
    fn lowered(
        &mut self,
        number: usize,
        word: usize,
        to_zero: bool,
        execution: &mut Execution,
        thread: ThreadId,
    ) {
        let position = execution.position(thread);
        let view = execution.view(thread);
        let mut moments = self.moments(thread, view);
        let known = view.iter().map(|events| 2 * events).collect::<Moments>();
        join(&mut moments, &known);
        let mut own = vec![0; thread.index() + 1];
        own[thread.index()] = 2 * position + 1;
        join(&mut moments, &own);
        let released = &mut self.blocks[number].released[word];
        join(released, &moments);
        if to_zero {
            let moments = released.clone();
            self.acquired.push(Acquired { thread, position, moments });
        }
    }

    /// What counts have told a thread, with what its clock says.
    pub(crate) fn moments(&self, thread: ThreadId, view: &[u32]) -> Moments {
        let mut moments = Moments::new();
        let told = self.acquired.iter().filter(|acquired| acquired.is_before(thread, view));
        told.for_each(|acquired| join(&mut moments, &acquired.moments));
        moments
    }

    /// Looks for blocks that may be what makes an order between a use and the free of a block that hangs on `holders`, and that were not
    /// compared in this run; whether there are any.
    pub(crate) fn learn(&mut self, arenas: &[Option<Box<Arena>>], holders: &[Place]) -> bool {
        let mut found = std::mem::take(&mut self.emptied);
        found.extend(holders.iter().filter(|&&place| has_one_handle(arenas, place)));
        for (number, arena) in arenas.iter().enumerate() {
            let Some(arena) = arena else { continue };
            let owner = ThreadId(number as u32);
            let live = arena.notes().iter().enumerate().filter(|(_, note)| note.freed().is_none());
            let large = live.filter(|(_, note)| note.size() as usize >= SIZE);
            let starts = large.map(|(number, _)| arena.start(number));
            let begun = starts.filter(|&start| {
                counts(arenas, owner, start).is_some_and(|[strong, weak]| strong == 0 && weak > 0)
            });
            found.extend(begun.map(|start| (owner, start)));
        }
        let known = self.blocks.len();
        for (owner, start) in found {
            if !self.blocks.iter().any(|block| (block.owner, block.start) == (owner, start)) {
                self.blocks.push(Counted { owner, start, words: None, released: Default::default() });
            }
        }
        self.blocks.len() > known
    }

    /// Whether an access came before all handles but one were let go to a block on which the freed one hangs.
    pub(crate) fn may_tell(&self, arenas: &[Option<Box<Arena>>], holders: &[Place], access: &Access) -> bool {
        self.blocks.iter().any(|block| {
            let place = (block.owner, block.start);
            tell(&block.released[0], access) && holders.contains(&place) && has_one_handle(arenas, place)
        })
    }
}

/// Whether a block begins with counts of which the first is one.
pub(crate) fn has_one_handle(arenas: &[Option<Box<Arena>>], (owner, start): Place) -> bool {
    counts(arenas, owner, start).is_some_and(|[strong, weak]| strong == 1 && weak > 0)
}

/// Whether an access is known.
pub(crate) fn tell(moments: &[u32], access: &Access) -> bool {
    // An access that is no event is before the thread's event with its number.
    let moment = 2 * access.point.index + u32::from(access.atomic);
    moments.get(access.point.thread.index()).is_some_and(|&known| moment < known)
}

fn join(moments: &mut Moments, others: &[u32]) {
    moments.resize(moments.len().max(others.len()), 0);
    moments.iter_mut().zip(others).for_each(|(moment, &other)| *moment = other.max(*moment));
}

/// The counts at the start of a block, if there are two.
fn counts(arenas: &[Option<Box<Arena>>], owner: ThreadId, start: usize) -> Option<[usize; 2]> {
    let arena = arenas.get(owner.index())?.as_ref()?;
    if !arena.contains(start) || !arena.uses(start) {
        return None;
    }
    // SAFETY: the address is in the part of the arena that is in use, and what follows that is mapped as well. It is no count if
    // the block is new, or was freed.
    let words = unsafe { (start as *const [usize; 2]).read() };
    words.iter().all(|word| *word < MOST).then_some(words)
}

#[cfg(test)]
mod tests {
    use unpick_core::op::Site;
    use unpick_core::violation::Point;

    use super::*;

    fn access(thread: u32, index: u32, atomic: bool) -> Access {
        Access { point: Point { thread: ThreadId(thread), index, site: Site(0) }, writes: true, atomic }
    }

    #[test]
    fn plain_accesses_are_between_events() {
        // Three events of the first thread; and of the second one what it has done after its third.
        let moments = [6, 7];
        assert!(tell(&moments, &access(0, 2, true)) && tell(&moments, &access(0, 2, false)));
        assert!(!tell(&moments, &access(0, 3, true)) && !tell(&moments, &access(0, 3, false)));
        assert!(tell(&moments, &access(1, 3, false)) && !tell(&moments, &access(1, 3, true)));
        assert!(!tell(&moments, &access(2, 0, false)));
    }

    #[test]
    fn who_comes_after_a_zero_is_told() {
        let acquired = Acquired { thread: ThreadId(1), position: 2, moments: vec![5] };
        let counts = Counts { acquired: vec![acquired], ..Counts::default() };
        assert_eq!(counts.moments(ThreadId(1), &[0, 2]), [5]);
        assert_eq!(counts.moments(ThreadId(2), &[0, 3]), [5]);
        assert!(counts.moments(ThreadId(2), &[0, 2]).is_empty());
    }
}
