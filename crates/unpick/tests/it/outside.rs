//! Outside a check the types are std's.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::hint;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicPtr, AtomicUsize, fence};
use unpick::sync::{Mutex, RawMutex, TryLockError};
use unpick::thread;

#[test]
fn threads_count() {
    let count = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                for _ in 0..10_000 {
                    count.fetch_add(1, Relaxed);
                }
                thread::yield_now();
                7
            })
        })
        .collect();
    assert!(threads.into_iter().all(|t| t.join().unwrap() == 7));
    fence(SeqCst);
    assert_eq!(count.load(SeqCst), 40_000);
    assert_eq!(format!("{count:?}"), "40000");
}

#[test]
fn a_mutex_locks() {
    let mutex = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let mutex = mutex.clone();
            thread::spawn(move || (0..10_000).for_each(|_| *mutex.lock().unwrap() += 1))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(*mutex.lock().unwrap(), 40_000);
    let guard = mutex.lock().unwrap();
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    assert_eq!(format!("{guard} {guard:?}"), "40000 40000");
    drop(guard);
    assert_eq!(*mutex.try_lock().unwrap(), 40_000);
    let theirs = mutex.clone();
    let t = thread::spawn(move || {
        let _guard = theirs.lock().unwrap();
        panic!("on purpose");
    });
    assert!(t.join().is_err());
    assert!(mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 40_000);
    mutex.clear_poison();
    let mut mutex = Arc::try_unwrap(mutex).unwrap();
    *mutex.get_mut().unwrap() = 3;
    assert_eq!(mutex.into_inner().unwrap(), 3);
}

#[test]
fn a_raw_mutex_locks() {
    struct Shared(RawMutex, UnsafeCell<usize>);
    // SAFETY: the cell is used under the lock.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    let shared = Arc::new(Shared(RawMutex::new(), UnsafeCell::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                for _ in 0..2_000 {
                    shared.0.lock();
                    shared.1.with_mut(|n| unsafe { *n += 1 });
                    shared.0.unlock();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert!(shared.0.try_lock());
    assert!(!shared.0.try_lock());
    shared.0.unlock();
    assert_eq!(shared.1.with(|n| unsafe { *n }), 8_000);
}

#[test]
fn scopes_borrow() {
    let mut numbers = vec![1, 2, 3];
    let count = AtomicUsize::new(0);
    let sum = thread::scope(|scope| {
        let first = scope.spawn(|| {
            count.fetch_add(1, Relaxed);
            numbers.iter().sum::<i32>()
        });
        scope.spawn(|| {
            scope.spawn(|| count.fetch_add(1, Relaxed));
            count.fetch_add(1, Relaxed);
        });
        first.join().unwrap()
    });
    numbers.push(sum);
    assert_eq!(numbers, [1, 2, 3, 6]);
    assert_eq!(count.into_inner(), 3);
    let outcome =
        std::panic::catch_unwind(|| thread::scope(|scope| drop(scope.spawn(|| panic!("on purpose")))));
    assert!(outcome.is_err());
}

#[test]
fn a_thread_finishes() {
    let t = thread::spawn(|| ());
    while !t.is_finished() {
        hint::spin_loop();
    }
    t.join().unwrap();
    thread::scope(|scope| {
        let t = scope.spawn(|| ());
        while !t.is_finished() {
            thread::yield_now();
        }
    });
}

#[test]
fn a_spin_lock_works_for_real() {
    let lock = Arc::new(AtomicUsize::new(0));
    let total = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (lock, total) = (lock.clone(), total.clone());
            thread::spawn(move || {
                for _ in 0..500 {
                    while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
                        hint::spin_loop();
                    }
                    total.store(total.load(Relaxed) + 1, Relaxed);
                    lock.store(0, Release);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(total.load(Relaxed), 1500);
}

#[test]
fn pointers_and_updates() {
    let (mut a, mut b) = (1, 2);
    let slot = AtomicPtr::new(&raw mut a);
    assert_eq!(slot.swap(&raw mut b, SeqCst), &raw mut a);
    let n = AtomicUsize::new(3);
    assert_eq!(n.fetch_update(SeqCst, SeqCst, |n| n.checked_mul(2)), Ok(3));
    assert_eq!(n.fetch_update(SeqCst, SeqCst, |_| None), Err(6));
    let ready = Arc::new(AtomicUsize::new(0));
    let theirs = ready.clone();
    let t = thread::spawn(move || theirs.store(1, Release));
    unpick::await_until(|| ready.load(Acquire) == 1);
    t.join().unwrap();
}

#[test]
fn objects_from_outside_are_as_good_after_a_check() {
    static N: AtomicUsize = AtomicUsize::new(1);
    N.store(2, Relaxed);
    let n = AtomicUsize::new(1);
    n.store(2, Relaxed);
    crate::support::holds(|| {});
    assert_eq!((N.load(Relaxed), n.load(Relaxed)), (2, 2));
}
