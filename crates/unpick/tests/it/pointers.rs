//! What is done through the pointers that cells hand out.

use std::mem::MaybeUninit;

use unpick::cell::{Cell, UnsafeCell};
use unpick::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use unpick::sync::{Arc, Mutex};
use unpick::{Check, thread};

use crate::support::{holds, passes, run, told, violated};

struct Shared<T: ?Sized>(UnsafeCell<T>);

unsafe impl<T: ?Sized> Sync for Shared<T> {}
unsafe impl<T> Send for Shared<T> {}

fn shared<T>(value: T) -> Arc<Shared<T>> {
    Arc::new(Shared(UnsafeCell::new(value)))
}

fn two_writes() {
    let cell = shared(0u32);
    let theirs = cell.clone();
    let other = thread::spawn(move || unsafe { *theirs.0.get() += 1 });
    unsafe { *cell.0.get() += 1 };
    other.join().unwrap();
}

#[test]
fn two_writes_race_and_the_report_says_where_the_pointers_come_from() {
    let finding = violated(two_writes);
    assert_eq!(finding.title, "data race");
    let report = told(&finding);
    assert!(report.contains("write by main through the pointer that was taken at"), "{report}");
    assert!(report.contains("write by T1 through the pointer that was taken at"), "{report}");
    assert!(report.contains("`with_mut` tells the place"), "{report}");
    let replayed =
        Check::new().with(|name| (name == "UNPICK_REPLAY").then(|| finding.token.clone())).unwrap();
    let again = replayed.run(two_writes).unwrap();
    assert_eq!(again.violation().map(|again| again.title.as_str()), Some("data race"));
}

#[test]
fn what_is_not_seen_is_assumed() {
    let verdict = run(|| {
        let cell = shared(5u64);
        let ready = Arc::new(AtomicBool::new(false));
        let (theirs, set) = (cell.clone(), ready.clone());
        let other = thread::spawn(move || {
            unsafe { *theirs.0.get() = 6 };
            set.store(true, Ordering::Relaxed);
        });
        if ready.load(Ordering::Acquire) {
            assert!(unsafe { *cell.0.get() } > 0);
        }
        other.join().unwrap();
    });
    assert!(verdict.holds());
    let said = verdict.to_string();
    assert!(
        said.contains("of pointers from `get`, only writes that change bytes of the cell are seen"),
        "{said}"
    );
    assert!(said.contains("since nothing orders the two: taken at"), "{said}");
}

#[test]
fn a_program_without_pointers_assumes_nothing_about_them() {
    let said = run(|| assert_eq!(UnsafeCell::new(1).with(|value| unsafe { *value }), 1)).to_string();
    assert!(!said.contains("`get`"), "{said}");
}

#[test]
fn a_pointer_that_is_ordered_is_not_said_to_be_unordered() {
    let verdict = run(|| {
        let cell = Arc::new((Mutex::new(()), Shared(UnsafeCell::new(0))));
        let theirs = cell.clone();
        let add = |cell: &(Mutex<()>, Shared<i32>)| {
            let _guard = cell.0.lock().unwrap();
            unsafe { *cell.1.0.get() += 1 };
        };
        let other = thread::spawn(move || add(&theirs));
        add(&cell);
        other.join().unwrap();
    });
    let said = verdict.to_string();
    assert!(verdict.holds() && !said.contains("nothing orders"), "{said}");
}

#[test]
fn more_bytes_than_are_compared_are_said() {
    let verdict = run(|| {
        let cell: Box<UnsafeCell<[u8; 40_000]>> = unsafe { Box::new_zeroed().assume_init() };
        unsafe { cell.get().cast::<u8>().write(1) };
    });
    let said = verdict.to_string();
    assert!(verdict.holds() && said.contains("16384 bytes at a time"), "{said}");
}

#[test]
fn cells_of_earlier_executions_are_said() {
    let kept: &'static Shared<u32> = Box::leak(Box::new(Shared(UnsafeCell::new(0))));
    let verdict = run(move || unsafe { *kept.0.get() = 1 });
    let said = verdict.to_string();
    assert!(verdict.holds() && said.contains("memory that is not the execution's own"), "{said}");
}

#[test]
fn a_reference_to_all_of_it_ends_the_pointers() {
    passes(|| {
        let mut cell = UnsafeCell::new(1);
        unsafe { *cell.get() = 2 };
        *cell.get_mut() = 3;
        thread::scope(|scope| {
            let value = cell.get_mut();
            scope.spawn(|| *value = 4);
        });
        assert_eq!(cell.into_inner(), 4);
    });
}

#[test]
fn a_reference_to_all_of_it_comes_after_the_writes() {
    struct Raw(*mut Shared<u32>);
    unsafe impl Send for Raw {}
    let finding = violated(|| {
        let cell = Raw(Box::into_raw(Box::new(Shared(UnsafeCell::new(0)))));
        let theirs = Raw(cell.0);
        let other = thread::spawn(move || {
            let theirs = theirs;
            unsafe { *(*theirs.0).0.get() = 1 };
        });
        unsafe { *(*cell.0).0.get_mut() = 2 };
        other.join().unwrap();
        drop(unsafe { Box::from_raw(cell.0) });
    });
    assert_eq!(finding.title, "data race");
}

#[test]
fn memory_that_nothing_was_written_to_may_be_made_a_cell() {
    holds(|| {
        let mut place = Box::new(MaybeUninit::<UnsafeCell<u32>>::uninit());
        unsafe { UnsafeCell::raw_get(place.as_ptr()).write(5) };
        let cell = unsafe { place.assume_init_mut() };
        assert_eq!(cell.with(|value| unsafe { *value }), 5);
    });
}

#[test]
fn a_pointer_to_freed_memory_is_a_use_of_it() {
    let finding = violated(|| {
        let cell = Box::into_raw(Box::new(UnsafeCell::new(1u8)));
        drop(unsafe { Box::from_raw(cell) });
        unsafe { (*cell).get() };
    });
    assert_eq!(finding.title, "use after free");
}

#[test]
fn what_a_destructor_out_of_sight_writes_is_nobodys() {
    struct Emptied(Shared<[u8; 3]>);
    impl Drop for Emptied {
        fn drop(&mut self) {
            unsafe { *self.0.0.get() = [0; 3] };
        }
    }
    let verdict = run(|| {
        let both = Arc::new(Emptied(Shared(UnsafeCell::new([1; 3]))));
        let theirs = both.clone();
        thread::spawn(move || unsafe { (&raw mut (*theirs.0.0.get())[1]).write(7) });
        unsafe { (&raw mut (*both.0.0.get())[2]).write(8) };
    });
    let said = verdict.to_string();
    assert!(verdict.holds() && said.contains("the destructor of what an `Arc` holds"), "{said}");
    assert_eq!(verdict.stats().executions, 1);
}

#[test]
fn cells_in_cells_and_atomics_in_cells_do_not_race_by_their_tags() {
    holds(|| {
        let cell = shared((AtomicU32::new(0), Cell::new(1), UnsafeCell::new(2)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let cell = cell.clone();
                thread::spawn(move || {
                    let all = unsafe { &*cell.0.get() };
                    all.0.fetch_add(1, Ordering::Relaxed);
                    all.1.get() + all.2.with(|value| unsafe { *value })
                })
            })
            .collect();
        let read = threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>();
        assert_eq!(read, 6);
    });
}

#[test]
fn sampled_executions_are_looked_at() {
    let verdict = Check::new().strategy("random").max_executions(100).run(two_writes).unwrap();
    assert_eq!(verdict.violation().map(|finding| finding.title.as_str()), Some("data race"));
}
