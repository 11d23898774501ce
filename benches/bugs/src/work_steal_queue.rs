//! A work-stealing queue with a lock for the thief, whose owner does not look again.
//!
//! Models the THE protocol of M. Frigo, C. Leiserson and K. Randall, "The implementation of the Cilk-5
//! multithreaded language" (PLDI 1998), which is the best-known program of CHESS: M. Musuvathi and
//! S. Qadeer, "Iterative context bounding for systematic testing of multithreaded programs" (PLDI 2007).
//!
//! Bug: the owner who meets a thief at the last element takes the lock, and does not look under the lock
//! whether the element is still there. Both take it. Fix: look again.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicIsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "work_steal_queue",
    after: "Frigo and others 1998; Musuvathi and Qadeer 2007",
    bug: "the owner does not look again under the lock",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

/// Element `n` is the number `n`: elements from `head` up to `tail` are there.
struct Queue {
    head: AtomicIsize,
    tail: AtomicIsize,
    lock: Mutex<()>,
    variant: Variant,
}

impl Queue {
    fn pop(&self) -> Option<isize> {
        let tail = self.tail.load(SeqCst) - 1;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) <= tail {
            return Some(tail);
        }
        self.tail.store(tail + 1, SeqCst);
        let _guard = self.lock.lock().unwrap();
        let head = self.head.load(SeqCst);
        let gone = if self.variant.is_fixed() { head > tail } else { head > tail + 1 };
        if gone {
            return None;
        }
        self.tail.store(tail, SeqCst);
        Some(tail)
    }

    fn steal(&self) -> Option<isize> {
        let _guard = self.lock.lock().unwrap();
        let head = self.head.load(SeqCst);
        self.head.store(head + 1, SeqCst);
        if head < self.tail.load(SeqCst) {
            return Some(head);
        }
        self.head.store(head, SeqCst);
        None
    }
}

fn program(variant: Variant) {
    let queue = Queue { head: AtomicIsize::new(0), tail: AtomicIsize::new(2), lock: Mutex::new(()), variant };
    let mut values = thread::scope(|scope| {
        let thief = scope.spawn(|| [queue.steal(), queue.steal()]);
        let mine = [queue.pop(), queue.pop()];
        Vec::from_iter(mine.into_iter().chain(thief.join().unwrap()).flatten())
    });
    values.sort_unstable();
    assert!(values.windows(2).all(|pair| pair[0] != pair[1]), "an element was taken twice: {values:?}");
}
