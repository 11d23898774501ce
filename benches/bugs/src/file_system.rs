//! Threads that allocate blocks for files.
//!
//! Models the file system of C. Flanagan and P. Godefroid, "Dynamic partial-order reduction for model
//! checking software" (POPL 2005), also in O. Saarikivi, K. Kähkönen and K. Heljanko, "Improving dynamic
//! partial order reductions for concolic testing" (ACSD 2012): 32 files and 26 blocks, each with a lock.
//! From 14 threads on, some want the same block first.
//!
//! Bug: a thread gives the lock of a block back between seeing that it is free and taking it. Fix: keep
//! the lock.
//!
//! Shows under SC, with 14, 16 or 18 threads (2 take part) and 1 preemption.

use unpick::sync::Mutex;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The file system with 14 threads.
pub(crate) const BUG: Bug = Bug {
    name: "file_system_14",
    after: "Flanagan and Godefroid 2005; Saarikivi and others 2012",
    bug: "the lock of a block is given back before the block is taken",
    memory: Memory::Sc,
    threads: 14,
    preemptions: Some(1),
    violation: "panic",
    program: program::<14>,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

/// The file system with 16 threads.
pub(crate) const SIXTEEN: Bug = Bug { name: "file_system_16", threads: 16, program: program::<16>, ..BUG };

/// The file system with 18 threads.
pub(crate) const EIGHTEEN: Bug = Bug { name: "file_system_18", threads: 18, program: program::<18>, ..BUG };

const FILES: usize = 32;
const BLOCKS: usize = 26;

/// Takes a block if it is free.
fn take(block: &Mutex<bool>, variant: Variant) -> bool {
    if variant.is_fixed() {
        let mut busy = block.lock().unwrap();
        return !std::mem::replace(&mut *busy, true);
    }
    let free = !*block.lock().unwrap();
    if free {
        *block.lock().unwrap() = true;
    }
    free
}

fn program<const THREADS: usize>(variant: Variant) {
    let files: Vec<Mutex<Option<usize>>> = (0..FILES).map(|_| Mutex::new(None)).collect();
    let blocks: Vec<Mutex<bool>> = (0..BLOCKS).map(|_| Mutex::new(false)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (files, blocks) = (&files, &blocks);
            scope.spawn(move || {
                let mut file = files[thread % FILES].lock().unwrap();
                if file.is_none() {
                    let first = thread * 2 % BLOCKS;
                    let mut tried = (first..BLOCKS).chain(0..first);
                    *file = tried.find(|&block| take(&blocks[block], variant));
                }
            });
        }
    });
    let mut taken: Vec<usize> = files.iter().filter_map(|file| *file.lock().unwrap()).collect();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), THREADS, "a block belongs to two files");
}
