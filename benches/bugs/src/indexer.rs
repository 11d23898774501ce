//! Threads that fill one hash table.
//!
//! Models the indexer of C. Flanagan and P. Godefroid, "Dynamic partial-order reduction for model
//! checking software" (POPL 2005), also in O. Saarikivi, K. Kähkönen and K. Heljanko, "Improving dynamic
//! partial order reductions for concolic testing" (ACSD 2012): each thread puts 4 messages into a
//! table of 128. From 12 threads on, some meet.
//!
//! Bug: a thread looks whether a place is empty, and stores then; a message of another thread may be
//! lost. Fix: one exchange.
//!
//! Shows under SC, with 12 or 13 threads (2 take part) and 1 preemption.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The indexer with 12 threads.
pub(crate) const BUG: Bug = Bug {
    name: "indexer_12",
    after: "Flanagan and Godefroid 2005; Saarikivi and others 2012",
    bug: "a place is seen empty and then stored to",
    memory: Memory::Sc,
    threads: 12,
    preemptions: Some(1),
    violation: "panic",
    program: program::<12>,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

/// The indexer with 13 threads.
pub(crate) const THIRTEEN: Bug = Bug { name: "indexer_13", threads: 13, program: program::<13>, ..BUG };

const MESSAGES: usize = 4;
const SIZE: usize = 128;

fn message(thread: usize, number: usize) -> usize {
    number * 11 + thread + 1
}

fn insert(table: &[AtomicUsize], message: usize, variant: Variant) {
    let mut place = message * 7 % SIZE;
    loop {
        let done = if variant.is_fixed() {
            table[place].compare_exchange(0, message, SeqCst, SeqCst).is_ok()
        } else {
            let empty = table[place].load(SeqCst) == 0;
            if empty {
                table[place].store(message, SeqCst);
            }
            empty
        };
        if done {
            return;
        }
        place = (place + 1) % SIZE;
    }
}

fn program<const THREADS: usize>(variant: Variant) {
    let table: Vec<AtomicUsize> = (0..SIZE).map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let table = &table;
            scope.spawn(move || {
                (0..MESSAGES).for_each(|number| insert(table, message(thread, number), variant));
            });
        }
    });
    let mut found: Vec<usize> = table.iter().map(|place| place.load(SeqCst)).collect();
    found.retain(|&message| message != 0);
    assert_eq!(found.len(), THREADS * MESSAGES, "a message was lost");
}
