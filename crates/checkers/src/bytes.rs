//! Data races between writes that nobody has announced: those through a pointer that was handed out.
//!
//! Only one thread runs at a time. So bytes that are not what they were when they were looked at last were written by the thread that
//! has run since, before its next event. Each byte is compared by itself: threads may write to different ones at the same time.
//!
//! What is compared is the program's plain memory, so whatever lies there by now: two threads that change one byte in turn, and nothing
//! orders one before the other, race. It needs no more than the last change of each byte, since races end an execution.
//!
//! Left out: a write that changes nothing, one that is undone before anybody looks, and reads. What is known of pointers tells
//! where a read might be ([`Bytes::takers`], [`Bytes::writers`]).

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::op::ThreadId;
use unpick_core::violation::Point;

/// In place of the number of a write: the byte is not the program's.
const MASKED: u32 = u32::MAX;

/// A thread has asked for a pointer.
#[derive(Clone, Copy, Debug)]
struct Take {
    point: Point,
    /// Whether bytes were changed by its thread before the next event.
    wrote: bool,
}

/// The bytes of a piece of memory, in one execution.
#[derive(Debug, Default)]
pub struct Bytes {
    /// What they were when they were looked at last.
    seen: Vec<u8>,
    /// For each byte the number of its last change, from 1; 0: there was none.
    last: Vec<u32>,
    writes: Vec<Point>,
    /// The last change by each thread.
    newest: Vec<Point>,
    /// The last pointer of each thread.
    takes: Vec<Take>,
}

/// Whether what a thread did before an event is not known.
fn is_foreign(point: &Point, thread: ThreadId, view: &[u32]) -> bool {
    point.thread != thread && !knows(view, EventId { thread: point.thread, index: point.index })
}

/// Puts a point in place of the last one of its thread.
fn renew(points: &mut Vec<Point>, point: Point) {
    match points.iter_mut().find(|known| known.thread == point.thread) {
        Some(known) => *known = point,
        None => points.push(point),
    }
}

impl Bytes {
    /// Begins with what is there.
    pub fn begin(&mut self, bytes: &[u8]) {
        self.seen.clear();
        self.seen.extend_from_slice(bytes);
        self.last.clear();
        self.last.resize(bytes.len(), 0);
        self.writes.clear();
        self.newest.clear();
        self.takes.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// What they were when they were looked at last.
    pub fn seen(&self) -> &[u8] {
        &self.seen
    }

    /// From now on some bytes are not the program's; `false`: they were not before.
    pub fn mask(&mut self, from: usize, to: usize) -> bool {
        let bytes = &mut self.last[from..to];
        let new = bytes.first().is_some_and(|&last| last != MASKED);
        bytes.fill(MASKED);
        new
    }

    /// The positions of the program's bytes that have changed.
    fn changed<'a>(&'a self, now: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.seen.iter().zip(now).zip(&self.last).enumerate();
        pairs.filter(|(_, ((before, now), last))| before != now && **last != MASKED).map(|(at, _)| at)
    }

    /// Whether a byte of the program has changed.
    pub fn is_changed(&self, now: &[u8]) -> bool {
        self.changed(now).next().is_some()
    }

    /// Takes what is there as it is: nobody in particular has written it.
    pub fn keep(&mut self, now: &[u8]) {
        self.seen.copy_from_slice(now);
    }

    /// An earlier write to a byte that has changed, by another thread and not `known`.
    pub fn racing(&self, now: &[u8], thread: ThreadId, known: impl Fn(&Point) -> bool) -> Option<Point> {
        let mut fine = 0;
        self.changed(now).find_map(|at| {
            let last = self.last[at];
            if last == fine || last == 0 {
                return None;
            }
            let write = self.writes[last as usize - 1];
            if write.thread == thread || known(&write) {
                fine = last;
                return None;
            }
            Some(write)
        })
    }

    /// The bytes that have changed were written by a thread before its event at `point.index`.
    pub fn write(&mut self, now: &[u8], point: Point) {
        if self.writes.last() != Some(&point) {
            if self.writes.len() >= 2 * self.last.len() + 64 {
                self.forget_overwritten();
            }
            self.writes.push(point);
        }
        let number = self.writes.len() as u32;
        for ((seen, now), last) in self.seen.iter_mut().zip(now).zip(&mut self.last) {
            if seen != now {
                *seen = *now;
                if *last != MASKED {
                    *last = number;
                }
            }
        }
        renew(&mut self.newest, point);
        let own = self.takes.iter_mut().find(|take| take.point.thread == point.thread);
        if let Some(own) = own.filter(|own| own.point.index == point.index) {
            own.wrote = true;
        }
    }

    /// Forgets writes of which no byte is left: executions may be long.
    #[cold]
    fn forget_overwritten(&mut self) {
        let mut numbers = vec![0; self.writes.len() + 1];
        let mut left = Vec::with_capacity(self.writes.len());
        for last in self.last.iter_mut().filter(|last| ![0, MASKED].contains(*last)) {
            let number = &mut numbers[*last as usize];
            if *number == 0 {
                left.push(self.writes[*last as usize - 1]);
                *number = left.len() as u32;
            }
            *last = *number;
        }
        self.writes = left;
    }

    /// A thread asks for a pointer; whether it is the first since its last event.
    pub fn take(&mut self, point: Point) -> bool {
        match self.takes.iter_mut().find(|take| take.point.thread == point.thread) {
            Some(take) => {
                let again = take.point.index == point.index;
                *take = Take { point, wrote: take.wrote && again };
                !again
            }
            None => {
                self.takes.push(Take { point, wrote: false });
                true
            }
        }
    }

    /// Whether this is the last pointer of its thread, which has asked for none at another place since.
    pub fn is_last_take(&self, point: Point) -> bool {
        self.takes.iter().any(|take| take.point == point)
    }

    /// Where a thread has asked for a pointer last, if it did not write at once.
    pub fn unused_take(&self, thread: ThreadId) -> Option<Point> {
        self.takes.iter().find(|take| take.point.thread == thread && !take.wrote).map(|take| take.point)
    }

    /// Where a thread has asked for a pointer last; if it never has, where any thread has.
    pub fn taken_by(&self, thread: ThreadId) -> Option<Point> {
        let own = self.takes.iter().find(|take| take.point.thread == thread);
        own.or(self.takes.last()).map(|take| take.point)
    }

    /// The last pointers of other threads that are not known and through which they did not write at once: they may have read.
    pub fn takers<'a>(&'a self, thread: ThreadId, view: &'a [u32]) -> impl Iterator<Item = Point> + 'a {
        let foreign = move |take: &&Take| !take.wrote && is_foreign(&take.point, thread, view);
        self.takes.iter().filter(foreign).map(|take| take.point)
    }

    /// The last writes of other threads that are not known.
    pub fn writers<'a>(&'a self, thread: ThreadId, view: &'a [u32]) -> impl Iterator<Item = Point> + 'a {
        self.newest.iter().filter(move |write| is_foreign(write, thread, view)).copied()
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::op::Site;

    use super::*;

    fn at(thread: u32, index: u32) -> Point {
        Point { thread: ThreadId(thread), index, site: Site(0) }
    }

    fn new(bytes: &[u8]) -> Bytes {
        let mut new = Bytes::default();
        new.begin(bytes);
        new
    }

    fn nobody(_: &Point) -> bool {
        false
    }

    #[test]
    fn a_change_of_another_thread_that_is_not_known_races() {
        let mut bytes = new(&[0, 0]);
        assert_eq!(bytes.racing(&[1, 0], ThreadId(1), nobody), None);
        bytes.write(&[1, 0], at(1, 3));
        assert_eq!(bytes.racing(&[2, 0], ThreadId(2), nobody), Some(at(1, 3)));
        assert_eq!(bytes.racing(&[2, 0], ThreadId(2), |_| true), None);
        assert_eq!(bytes.racing(&[2, 0], ThreadId(1), nobody), None, "its own");
    }

    #[test]
    fn each_byte_is_compared_by_itself() {
        let mut bytes = new(&[0, 0]);
        bytes.write(&[1, 0], at(1, 0));
        assert_eq!(bytes.racing(&[1, 7], ThreadId(2), nobody), None);
        bytes.write(&[1, 7], at(2, 0));
        assert_eq!(bytes.racing(&[5, 7], ThreadId(2), nobody), Some(at(1, 0)));
    }

    #[test]
    fn what_is_not_the_programs_does_not_change() {
        let mut bytes = new(&[0; 4]);
        assert!(bytes.mask(1, 3) && !bytes.mask(1, 3));
        assert!(!bytes.is_changed(&[0, 1, 1, 0]) && bytes.is_changed(&[0, 1, 1, 1]));
        bytes.write(&[0, 1, 1, 1], at(1, 0));
        assert_eq!(bytes.racing(&[0, 9, 9, 1], ThreadId(2), nobody), None);
        assert!(!new(&[]).mask(0, 0));
    }

    #[test]
    fn writes_that_were_overwritten_are_forgotten() {
        let mut bytes = new(&[0, 0, 0]);
        bytes.write(&[0, 0, 9], at(3, 1));
        for index in 0..1000 {
            bytes.write(&[(index as u8).wrapping_add(1), 0, 9], at(1 + index % 2, index));
        }
        assert!(bytes.writes.len() <= 80, "{}", bytes.writes.len());
        assert_eq!(bytes.racing(&[0, 0, 9], ThreadId(1), nobody), Some(at(2, 999)));
        assert_eq!(bytes.racing(&[bytes.seen[0], 0, 1], ThreadId(1), nobody), Some(at(3, 1)));
    }

    #[test]
    fn what_is_kept_was_written_by_nobody() {
        let mut bytes = new(&[0]);
        bytes.keep(&[4]);
        assert!(!bytes.is_changed(&[4]) && bytes.writers(ThreadId(1), &[]).next().is_none());
    }

    #[test]
    fn pointers_and_writes_that_are_not_known_are_told() {
        let mut bytes = new(&[0]);
        assert!(bytes.take(at(1, 2)) && bytes.take(at(2, 0)) && !bytes.take(at(2, 0)));
        assert!(bytes.is_last_take(at(1, 2)) && !bytes.is_last_take(at(1, 1)));
        assert_eq!(bytes.unused_take(ThreadId(2)), Some(at(2, 0)));
        bytes.write(&[1], at(2, 0));
        assert_eq!(bytes.unused_take(ThreadId(2)), None);
        let view = [0, 2, 0];
        assert!(bytes.takers(ThreadId(3), &view).eq([at(1, 2)]), "thread 2 has written");
        assert!(bytes.writers(ThreadId(3), &view).eq([at(2, 0)]));
        assert!(bytes.takers(ThreadId(3), &[0, 3, 0]).next().is_none(), "the event after it is known");
        assert!(bytes.writers(ThreadId(2), &view).next().is_none());
        bytes.take(at(2, 1));
        assert!(bytes.takers(ThreadId(3), &view).eq([at(1, 2), at(2, 1)]));
        assert_eq!(bytes.taken_by(ThreadId(1)), Some(at(1, 2)));
        assert_eq!(bytes.taken_by(ThreadId(7)), Some(at(2, 1)));
    }
}
