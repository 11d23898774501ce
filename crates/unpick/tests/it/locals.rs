//! Thread-locals, and cells in them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::thread::AccessError;
use unpick::{Check, thread};

use crate::support::*;

unpick::thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(7) };
    static NAMES: RefCell<Vec<String>> = RefCell::new(vec![String::from("first")]);
    static CHECKED: unpick::cell::Cell<usize> = unpick::cell::Cell::new(1)
}

#[test]
fn each_thread_has_its_own_and_each_execution_new_ones() {
    let counts = holds(|| {
        assert_eq!((COUNT.get(), CHECKED.replace(2)), (7, 1));
        COUNT.set(1);
        NAMES.with_borrow_mut(|names| names.push(String::from("second")));
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || {
            assert_eq!(COUNT.replace(3), 7);
            assert_eq!(NAMES.take(), ["first"]);
            assert_eq!(CHECKED.take(), 1);
            y.fetch_add(COUNT.get(), Relaxed);
            NAMES.set(vec![String::from("mine")]);
            NAMES.with_borrow(Vec::len)
        });
        x.fetch_add(COUNT.get(), Relaxed);
        assert_eq!(t.join().unwrap(), 1);
        assert_eq!(x.load(Relaxed), 4);
        assert_eq!((COUNT.get(), CHECKED.get()), (1, 2));
        assert_eq!(NAMES.replace(Vec::new()).len(), 2);
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn outside_a_check_they_are_those_of_std() {
    COUNT.set(1);
    assert_eq!(COUNT.get(), 1);
    assert_eq!(std::thread::spawn(|| COUNT.get()).join().unwrap(), 7);
    NAMES.set(Vec::new());
    assert_eq!(NAMES.take().len(), 0);
    assert_eq!(COUNT.try_with(Cell::get), Ok(1));
    assert_eq!(CHECKED.get(), 1);
}

/// Says when it is destroyed, to whoever is after.
struct Noisy(Arc<AtomicUsize>, usize);

impl Drop for Noisy {
    fn drop(&mut self) {
        let seen = self.0.load(Relaxed);
        self.0.store(seen * 10 + self.1, Relaxed);
    }
}

unpick::thread_local! {
    static FIRST: RefCell<Option<Noisy>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Noisy>> = const { RefCell::new(None) };
}

#[test]
fn the_youngest_is_destroyed_first_and_before_the_join() {
    holds(|| {
        let log = Arc::new(AtomicUsize::new(0));
        let theirs = log.clone();
        thread::spawn(move || {
            FIRST.set(Some(Noisy(theirs.clone(), 1)));
            SECOND.set(Some(Noisy(theirs, 2)));
        })
        .join()
        .unwrap();
        assert_eq!(log.load(Relaxed), 21);
    });
}

#[test]
fn destructors_are_seen_by_other_threads_as_they_happen() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let log = Arc::new(AtomicUsize::new(0));
        let theirs = log.clone();
        let t = thread::spawn(move || FIRST.set(Some(Noisy(theirs, 1))));
        let seen = log.load(Relaxed);
        t.join().unwrap();
        seen as u64
    });
    assert_eq!(seen, [0, 1].into_iter().collect());
    assert_eq!(counts(&verdict), (2, 0));
}

/// Uses other thread-locals when it is destroyed.
struct Curious(Arc<Mutex<Vec<Result<usize, AccessError>>>>);

impl Drop for Curious {
    fn drop(&mut self) {
        let itself = CURIOUS.try_with(|_| 0);
        let older = OLDER.try_with(|older| older.borrow().len());
        let younger = YOUNGER.try_with(|younger| younger.borrow().len());
        let plain = COUNT.try_with(Cell::get);
        let fresh = FRESH.try_with(|fresh| fresh.borrow().len());
        self.0.lock().unwrap().extend([itself, older, younger, plain, fresh]);
    }
}

unpick::thread_local! {
    static CURIOUS: RefCell<Option<Curious>> = const { RefCell::new(None) };
    static OLDER: RefCell<String> = RefCell::new(String::from("12"));
    static YOUNGER: RefCell<String> = RefCell::new(String::from("123"));
    static FRESH: RefCell<String> = RefCell::new(String::from("1234"));
}

#[test]
fn a_destructor_may_use_what_is_left() {
    holds(|| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let theirs = seen.clone();
        let t = thread::spawn(move || {
            OLDER.with(|_| ());
            CURIOUS.set(Some(Curious(theirs)));
            YOUNGER.with(|_| ());
            COUNT.set(5);
        });
        t.join().unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(*seen, [Err(AccessError), Ok(2), Err(AccessError), Ok(5), Ok(4)]);
    });
}

#[test]
fn a_destructor_that_panics_ends_the_process() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("destroyed");
        }
    }
    unpick::thread_local! {
        static BOMB: RefCell<Option<Bomb>> = const { RefCell::new(None) };
    }
    let finding = violated(|| {
        // Joining does not help.
        let _ = thread::spawn(|| BOMB.set(Some(Bomb))).join();
    });
    assert_eq!(finding.title, "panic");
    assert!(told(&finding).contains("destroyed"), "{}", told(&finding));
}

#[test]
fn locals_of_the_main_thread_are_destroyed_too() {
    let destroyed = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    struct Counting(Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Counting {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    unpick::thread_local! {
        static COUNTING: RefCell<Option<Counting>> = const { RefCell::new(None) };
    }
    let theirs = destroyed.clone();
    holds(move || {
        COUNTING.set(Some(Counting(theirs.clone())));
    });
    // The first execution is run twice.
    assert_eq!(destroyed.load(Relaxed), 2);
}

#[test]
fn an_initialiser_may_use_its_own_key() {
    fn make() -> usize {
        if COUNT.replace(0) == 7 { DEEP.with(|deep| *deep) + 1 } else { 1 }
    }
    unpick::thread_local! {
        static DEEP: usize = make();
    }
    holds(|| assert_eq!(DEEP.with(|deep| *deep), 2));
}

#[test]
fn cells_that_threads_share_are_checked() {
    struct Shared(unpick::cell::Cell<usize>);
    unsafe impl Sync for Shared {}
    let finding = violated(|| {
        let shared = Shared(unpick::cell::Cell::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let shared = &shared;
                shared.0.set(1);
            });
            let shared = &shared;
            shared.0.get();
        });
    });
    assert_eq!(finding.title, "data race");
    let counts = holds(|| {
        let shared = (Shared(unpick::cell::Cell::new(0)), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let shared = &shared;
                shared.0.0.update(|n| n + 1);
                shared.1.store(1, Release);
            });
            if shared.1.load(Acquire) == 1 {
                let shared = &shared;
                assert_eq!(shared.0.0.replace(4), 1);
                shared.0.0.swap(&unpick::cell::Cell::new(5));
                assert_eq!(shared.0.0.clone(), unpick::cell::Cell::new(5));
            }
        });
    });
    assert_eq!(counts, (2, 0));
}
