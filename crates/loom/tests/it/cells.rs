//! Cells and plain accesses to atomics.

use crate::loom::cell::{Cell, UnsafeCell};
use crate::loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::loom::sync::atomic::{AtomicPtr, AtomicUsize};
use crate::loom::sync::{Arc, Mutex};
use crate::loom::{model, thread};
use crate::{fails, loom};

struct Shared {
    flag: AtomicUsize,
    data: UnsafeCell<usize>,
}

// SAFETY: what the tests do with it is what they are about.
unsafe impl Sync for Shared {}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { flag: AtomicUsize::new(0), data: UnsafeCell::new(0) })
}

/// Writes the data, announces that, and reads it in another thread.
fn announced(announce: loom::sync::atomic::Ordering) {
    let ours = shared();
    let theirs = ours.clone();
    thread::spawn(move || {
        let pointer = theirs.data.get_mut();
        // SAFETY: nobody reads before the flag is set.
        unsafe { *pointer.deref() = 5 };
        drop(pointer);
        theirs.flag.store(1, announce);
    });
    if ours.flag.load(Acquire) == 1 {
        let pointer = ours.data.get();
        // SAFETY: it was written before.
        assert_eq!(unsafe { *pointer.deref() }, 5);
        assert_eq!(pointer.with(|data| unsafe { *data }), 5);
    }
}

#[test]
fn pointers_are_accesses() {
    model(|| announced(Release));
    let report = fails(|| announced(Relaxed));
    assert!(report.contains("data race"), "{report}");
}

#[test]
fn the_access_of_a_pointer_lasts_until_it_is_dropped() {
    let report = fails(|| {
        let ours = shared();
        let theirs = ours.clone();
        let other = thread::spawn(move || {
            if theirs.flag.load(Acquire) == 1 {
                theirs.data.with_mut(|data| unsafe { *data += 1 });
            }
        });
        let pointer = ours.data.get();
        ours.flag.store(1, Release);
        // Here the other may come between.
        ours.flag.load(Relaxed);
        drop(pointer);
        other.join().unwrap();
    });
    assert!(report.contains("data race"), "{report}");
}

#[test]
fn accesses_that_overlap_are_found_though_they_are_ordered() {
    let report = fails(|| {
        let ours = Arc::new((Mutex::new(false), shared()));
        let theirs = ours.clone();
        let pointer = ours.1.data.get_mut();
        let other = thread::spawn(move || theirs.1.data.with(|data| unsafe { *data }));
        other.join().unwrap();
        drop(pointer);
    });
    assert!(report.contains("while it is being written to"), "{report}");
    let report = fails(|| {
        let cell = UnsafeCell::new(1);
        cell.with(|_| cell.with_mut(|data| unsafe { *data = 2 }));
    });
    assert!(report.contains("while it is being read"), "{report}");
    model(|| {
        let cell = UnsafeCell::new(1);
        assert_eq!(cell.with(|_| cell.with(|data| unsafe { *data })), 1);
        drop((cell.get(), cell.get()));
        cell.with_mut(|data| unsafe { *data = 2 });
        assert_eq!(cell.into_inner(), 2);
    });
}

/// A guard that lets go of its cell by a store, and drops its pointer then; `late` uses it in between.
fn guarded(late: bool) {
    let ours = shared();
    let theirs = ours.clone();
    let other = thread::spawn(move || {
        let pointer = theirs.data.get_mut();
        unsafe { *pointer.deref() = 1 };
        theirs.flag.load(Relaxed);
        theirs.flag.store(1, Release);
        if late {
            unsafe { *pointer.deref() = 2 };
        }
        drop(pointer);
    });
    if ours.flag.load(Acquire) == 1 {
        ours.data.with_mut(|data| unsafe { *data += 1 });
    }
    other.join().unwrap();
}

#[test]
fn a_pointer_may_be_dropped_after_its_cell_was_let_go_of() {
    model(|| guarded(false));
    let report = fails(|| guarded(true));
    assert!(report.contains("data race"), "{report}");
}

#[test]
fn a_pointer_may_outlive_its_cell() {
    model(|| {
        let cell = Box::new(UnsafeCell::new(1));
        let pointer = cell.get();
        let moved = *cell;
        moved.with(|data| assert_eq!(unsafe { *data }, 1));
        drop(pointer);
        moved.with_mut(|data| unsafe { *data = 2 });
        assert_eq!(moved.into_inner(), 2);
    });
}

#[test]
fn cells_move_values() {
    model(|| {
        let (a, b) = (Cell::new(1), Cell::from(2));
        a.swap(&b);
        a.swap(&a);
        assert_eq!((a.get(), b.replace(7), b.take(), b.get()), (2, 1, 7, 0));
        assert!(a > b && a == a.clone());
        a.set(9);
        assert_eq!(a.into_inner(), 9);
        assert!(format!("{:?}", Cell::new(String::new())).starts_with("Cell"));
    });
}

#[test]
fn atomics_have_plain_accesses() {
    model(|| {
        let mut number = AtomicUsize::new(1);
        number.with_mut(|number| *number += 1);
        number.fetch_add(1, Relaxed);
        // SAFETY: there is one thread.
        assert_eq!(unsafe { number.unsync_load() }, 3);
        let mut pointer = AtomicPtr::<u8>::default();
        assert!(pointer.with_mut(|pointer| pointer.is_null()));
    });
    let report = fails(|| {
        let ours = shared();
        let theirs = ours.clone();
        // SAFETY: it is not, which is the point.
        let other = thread::spawn(move || unsafe { theirs.flag.unsync_load() });
        ours.flag.store(1, Relaxed);
        other.join().unwrap();
    });
    assert!(report.contains("data race"), "{report}");
}

/// How far a thread is, which accesses note, is no part of the state of a loop around them.
#[test]
fn a_loop_that_looks_into_cells_waits() {
    model(|| {
        let ready = Arc::new(AtomicUsize::new(0));
        let theirs = ready.clone();
        let other = thread::spawn(move || theirs.store(1, Release));
        let (one, two) = (UnsafeCell::new(0), UnsafeCell::new(0));
        while ready.load(Acquire) == 0 {
            one.with(|value| assert!(!value.is_null()));
            two.get().with(|value| assert!(!value.is_null()));
            thread::yield_now();
        }
        other.join().unwrap();
    });
}
