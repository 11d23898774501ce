//! Allocation, leaks and shared pointers.

use std::fmt::Display;

use crate::fails;
use crate::loom::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
use crate::loom::model;
use crate::loom::sync::Arc;
use crate::loom::sync::atomic::AtomicUsize;
use crate::loom::thread;

#[test]
fn what_has_an_owner_is_not_left_behind() {
    let leaks: [fn(); 4] = [
        || std::mem::forget(Arc::new(1)),
        || std::mem::forget(Track::new(1)),
        // SAFETY: the size is not 0.
        || _ = unsafe { alloc(Layout::new::<u64>()) },
        // SAFETY: as above.
        || _ = unsafe { alloc_zeroed(Layout::new::<u64>()) },
    ];
    for leak in leaks {
        let report = fails(leak);
        assert!(report.contains("leak"), "{report}");
    }
}

#[test]
fn a_box_may_be_left_behind() {
    model(|| {
        let number: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
        let other = thread::spawn(|| number.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        other.join().unwrap();
    });
}

#[test]
fn memory_comes_and_goes() {
    model(|| {
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the sizes match, and each block is freed once.
        unsafe {
            let block = alloc_zeroed(layout).cast::<u64>();
            assert_eq!(*block.add(3), 0);
            dealloc(block.cast(), layout);
            dealloc(alloc(layout), layout);
        }
        let mut tracked = Track::new(1);
        *tracked.get_mut() += 1;
        assert_eq!((*tracked.get_ref(), tracked.into_inner()), (2, 2));
    });
    let report = fails(|| {
        // SAFETY: it is not, which is the point.
        unsafe {
            let layout = Layout::new::<u64>();
            let block = alloc(layout);
            dealloc(block, layout);
            dealloc(block, layout);
        }
    });
    assert!(report.contains("double free"), "{report}");
}

#[test]
fn shared_pointers_of_std_become_ours() {
    model(|| {
        let shown: Arc<dyn Display> = Arc::from_std(std::sync::Arc::new(String::from("text")));
        let list: Arc<[i32]> = Arc::from_std(std::sync::Arc::from([1, 2, 3]));
        let other = shown.clone();
        assert_eq!((shown.to_string(), list.len(), Arc::strong_count(&other)), (String::from("text"), 3, 2));
    });
    let report = fails(|| {
        let number = std::sync::Arc::new(1);
        let other = number.clone();
        drop((Arc::from_std(number), other));
    });
    assert!(report.contains("from_std"), "{report}");
}

#[test]
fn counts_are_of_pointers() {
    model(|| {
        let number = Arc::new(5);
        let raw = Arc::into_raw(number.clone());
        // SAFETY: the pointer comes from `into_raw`, and is counted while it is used.
        unsafe {
            Arc::increment_strong_count(raw);
            Arc::decrement_strong_count(raw);
            let back = Arc::from_raw(raw);
            assert!(Arc::ptr_eq(&back, &number) && Arc::as_ptr(&back) == raw);
        }
        let mut number = number;
        *Arc::get_mut(&mut number).unwrap() += 1;
        assert_eq!(Arc::try_unwrap(number).unwrap(), 6);
    });
}
