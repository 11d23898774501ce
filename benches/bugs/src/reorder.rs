//! Many who set two variables, and one who looks at both.
//!
//! Models the program `reorder` of P. Thomson, A. Donaldson and A. Betts, "Concurrency testing using
//! controlled schedulers: an empirical study" (TOPC 2016): hard for samplers, since most threads are
//! noise.
//!
//! Bug: the two variables are set one after the other, and the reader may come in between. Fix: a lock.
//!
//! Shows under SC, with 5 threads (2 take part) and 1 preemption.

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicI32;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The program.
pub(crate) const BUG: Bug = Bug {
    name: "reorder",
    after: "Thomson, Donaldson and Betts 2016: reorder_5",
    bug: "two variables are set one after the other",
    memory: Memory::Sc,
    threads: SETTERS + 1,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

const SETTERS: usize = 4;

fn program(variant: Variant) {
    let (a, b) = (AtomicI32::new(0), AtomicI32::new(0));
    let lock = Mutex::new(());
    let guard = || variant.is_fixed().then(|| lock.lock().unwrap());
    thread::scope(|scope| {
        for _ in 0..SETTERS {
            scope.spawn(|| {
                let _guard = guard();
                a.store(1, SeqCst);
                b.store(-1, SeqCst);
            });
        }
        scope.spawn(|| {
            let _guard = guard();
            let pair = (a.load(SeqCst), b.load(SeqCst));
            assert!(pair == (0, 0) || pair == (1, -1), "{pair:?} is half set");
        });
    });
}
