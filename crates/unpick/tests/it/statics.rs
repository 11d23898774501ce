//! Objects in statics, and objects that move.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::sync::{LazyLock, Mutex, OnceLock, RawMutex};
use unpick::{Check, thread};

use crate::support::*;

static COUNT: AtomicUsize = AtomicUsize::new(5);

#[test]
fn a_static_atomic_starts_anew() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let before = COUNT.load(Relaxed);
        assert_eq!(before, 5);
        let t = thread::spawn(|| COUNT.fetch_add(1, Relaxed));
        let mine = COUNT.fetch_add(1, Relaxed);
        digits([t.join().unwrap(), mine, COUNT.load(Relaxed)])
    });
    assert_eq!(seen, [567, 657].into_iter().collect());
    assert_eq!(counts(&verdict), (2, 0));
    assert_eq!(COUNT.load(Relaxed), 5, "outside it has not changed");
}

static ONE_RUN: AtomicUsize = AtomicUsize::new(1);

#[test]
fn a_static_atomic_in_a_program_with_one_execution() {
    for _ in 0..3 {
        let (executions, _) = holds(|| {
            assert_eq!(ONE_RUN.swap(2, Relaxed), 1);
            assert_eq!(ONE_RUN.load(Relaxed), 2);
        });
        assert_eq!(executions, 1);
    }
}

static LIST: Mutex<Vec<usize>> = Mutex::new(Vec::new());

#[test]
fn a_static_mutex_starts_anew() {
    for _ in 0..2 {
        let (executions, _) = holds(|| {
            let threads: Vec<_> =
                (0..3).map(|n| thread::spawn(move || LIST.lock().unwrap().push(n))).collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
            let mut list = LIST.lock().unwrap();
            list.sort_unstable();
            assert_eq!(*list, [0, 1, 2]);
        });
        assert_eq!(executions, 6);
    }
    assert!(LIST.lock().unwrap().is_empty());
}

struct Cell(UnsafeCell<usize>);
// SAFETY: what the test is about.
unsafe impl Sync for Cell {}
static CELL: Cell = Cell(UnsafeCell::new(7));
static READY: AtomicBool = AtomicBool::new(false);

#[test]
fn a_static_cell_starts_anew_and_races() {
    let publish = |order| {
        move || {
            assert_eq!(CELL.0.with(|n| unsafe { *n }), 7);
            let t = thread::spawn(move || {
                CELL.0.with_mut(|n| unsafe { *n += 1 });
                READY.store(true, order);
            });
            if READY.load(Acquire) {
                assert_eq!(CELL.0.with(|n| unsafe { *n }), 8);
            }
            t.join().unwrap();
        }
    };
    assert_eq!(holds(publish(Release)), (2, 0));
    assert_eq!(violated(publish(Relaxed)).title, "data race");
    assert_eq!(holds(publish(Release)), (2, 0), "also after a violation");
    assert_eq!(CELL.0.with(|n| unsafe { *n }), 7);
}

static RAW: RawMutex = RawMutex::new();

#[test]
fn a_static_lock_is_free_at_the_start() {
    for _ in 0..2 {
        holds(|| {
            let t = thread::spawn(|| {
                RAW.lock();
                // Ends with the lock taken.
            });
            t.join().unwrap();
            assert!(!RAW.try_lock());
        });
    }
    assert!(RAW.try_lock(), "outside it has not been taken");
    RAW.unlock();
}

static ARRAY: [AtomicUsize; 4] = [const { AtomicUsize::new(3) }; 4];

#[test]
fn elements_of_a_static_array_are_apart() {
    let (executions, _) = holds(|| {
        let threads: Vec<_> = (0..4).map(|n| thread::spawn(move || ARRAY[n].fetch_add(n, Relaxed))).collect();
        threads.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), 3));
        assert_eq!(ARRAY.iter().map(|n| n.load(Relaxed)).sum::<usize>(), 18);
    });
    assert_eq!(executions, 1);
}

static AFTER_PANIC: Mutex<usize> = Mutex::new(0);

#[test]
fn a_static_mutex_forgets_its_poison() {
    for _ in 0..2 {
        holds(|| {
            assert!(!AFTER_PANIC.is_poisoned());
            let t = thread::spawn(|| {
                let _guard = AFTER_PANIC.lock().unwrap();
                panic!("with the lock");
            });
            assert!(t.join().is_err());
            assert!(AFTER_PANIC.lock().is_err());
        });
    }
    assert!(!AFTER_PANIC.is_poisoned());
}

// ------------------------------------------------------------ moves

#[test]
fn a_move_into_an_arc_keeps_the_object() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let x = AtomicUsize::new(0);
        x.store(1, Relaxed);
        let x = Arc::new(x);
        let y = x.clone();
        let t = thread::spawn(move || y.fetch_add(1, Relaxed));
        let mine = x.load(Relaxed);
        t.join().unwrap();
        let x = Arc::try_unwrap(x).unwrap();
        digits([mine, x.load(Relaxed), x.into_inner()])
    });
    assert_eq!(seen, [122, 222].into_iter().collect());
    assert_eq!(counts(&verdict), (2, 0));
}

#[test]
fn a_swap_exchanges_objects() {
    holds(|| {
        let (mut a, mut b) = (AtomicUsize::new(1), AtomicUsize::new(2));
        a.store(10, Relaxed);
        std::mem::swap(&mut a, &mut b);
        assert_eq!((a.load(Relaxed), b.load(Relaxed)), (2, 10));
        a.store(20, Relaxed);
        std::mem::swap(&mut a, &mut b);
        assert_eq!((a.load(Relaxed), b.load(Relaxed)), (10, 20));
        let c = std::mem::take(&mut a);
        assert_eq!((a.load(Relaxed), c.load(Relaxed)), (0, 10));
    });
}

#[test]
fn a_vector_that_grows_keeps_its_objects() {
    let (executions, _) = holds(|| {
        let mut all = Vec::new();
        for n in 0..20 {
            all.push(AtomicUsize::new(n));
            all.iter().for_each(|x| {
                x.fetch_add(100, Relaxed);
            });
        }
        for (n, x) in all.iter().enumerate() {
            assert_eq!(x.load(Relaxed), n + 100 * (20 - n));
        }
        let all = Arc::new(all);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let all = all.clone();
                thread::spawn(move || all[3].fetch_add(1, Relaxed))
            })
            .collect();
        let mut seen: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [1703, 1704]);
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_mutex_and_a_cell_move() {
    holds(|| {
        let mutex = Mutex::new(vec![1]);
        mutex.lock().unwrap().push(2);
        let boxed = Box::new((mutex, UnsafeCell::new(1)));
        boxed.1.with_mut(|n| unsafe { *n += 1 });
        let (mutex, cell) = *boxed;
        let shared = Arc::new(mutex);
        let theirs = shared.clone();
        let t = thread::spawn(move || theirs.lock().unwrap().push(3));
        t.join().unwrap();
        assert_eq!(*shared.lock().unwrap(), [1, 2, 3]);
        assert_eq!(cell.into_inner(), 2);
    });
}

#[test]
fn an_object_that_is_replaced_is_a_new_one() {
    holds(|| {
        let mut x = AtomicUsize::new(1);
        x.store(2, Relaxed);
        x = AtomicUsize::new(3);
        assert_eq!(x.load(Relaxed), 3);
        x.store(4, Relaxed);
        let mut slot = Box::new(Some(x));
        *slot = None;
        *slot = Some(AtomicUsize::new(5));
        assert_eq!((*slot).as_ref().unwrap().load(Relaxed), 5);
    });
}

#[test]
fn an_object_that_another_thread_uses_first_is_one_object() {
    let (executions, _) = holds(|| {
        let x = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let threads: Vec<_> = (0..2)
            .map(|n: usize| {
                let x = x.clone();
                thread::spawn(move || (x[n].fetch_add(1, Relaxed), x[1 - n].fetch_add(1, Relaxed)))
            })
            .collect();
        threads.into_iter().for_each(|t| assert!(t.join().is_ok()));
        assert_eq!((x[0].load(Relaxed), x[1].load(Relaxed)), (2, 2));
    });
    // Of the four pairs of orders, one is a circle.
    assert_eq!(executions, 3);
}

/// Checks that begin to use statics while executions of another have them.
#[test]
fn checks_at_the_same_time_do_not_see_each_others_statics() {
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::atomic::{AtomicBool as OutsideBool, AtomicUsize as OutsideUsize};
    use std::time::Duration;

    static LAZY: LazyLock<usize> = LazyLock::new(|| 42);
    static ONCE: OnceLock<usize> = OnceLock::new();
    static ENTERED: OutsideUsize = OutsideUsize::new(0);
    static DONE: OutsideBool = OutsideBool::new(false);
    let uses = || assert_eq!((*LAZY, *ONCE.get_or_init(|| 7)), (42, 7));
    let slow = std::thread::spawn(move || {
        for _ in 0..5 {
            unpick::check(move || {
                uses();
                // Both are there until the execution ends, which it does after another has come.
                let before = ENTERED.load(SeqCst);
                (0..200).take_while(|_| ENTERED.load(SeqCst) == before).for_each(|_| {
                    std::thread::sleep(Duration::from_millis(1));
                });
                std::thread::sleep(Duration::from_millis(20));
            });
        }
        DONE.store(true, SeqCst);
    });
    while !DONE.load(SeqCst) {
        unpick::check(move || {
            ENTERED.fetch_add(1, SeqCst);
            uses();
        });
    }
    slow.join().unwrap();
}
