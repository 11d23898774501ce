//! Small programs with known numbers of executions.

use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;

use crate::support::*;

#[test]
fn store_buffering_has_four_executions() {
    let counts = holds(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (x2, y2) = (x.clone(), y.clone());
        let t = thread::spawn(move || {
            x2.store(1, Relaxed);
            y2.load(Relaxed)
        });
        y.store(1, Relaxed);
        x.load(Relaxed);
        t.join().unwrap();
    });
    assert_eq!(counts, (4, 0));
}

#[test]
fn increments_under_a_lock_commute_in_no_way() {
    let counts = holds(|| {
        let n = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let n = n.clone();
                thread::spawn(move || *n.lock().unwrap() += 1)
            })
            .collect();
        for t in threads {
            t.join().unwrap();
        }
        assert_eq!(*n.lock().unwrap(), 4);
    });
    assert_eq!(counts, (24, 0));
}

#[test]
fn independent_threads_have_one_execution() {
    let counts = passes(|| {
        let threads: Vec<_> = (0..5)
            .map(|n| {
                thread::spawn(move || {
                    let x = AtomicUsize::new(n);
                    x.fetch_add(1, SeqCst);
                    x.into_inner()
                })
            })
            .collect();
        assert_eq!(threads.into_iter().map(|t| t.join().unwrap()).sum::<usize>(), 15);
    });
    assert_eq!(counts, (1, 0));
}

#[test]
fn a_program_without_threads_has_one_execution() {
    assert_eq!(holds(|| {}), (1, 0));
    unpick::check(|| assert_eq!(AtomicUsize::new(1).load(SeqCst), 1));
}
