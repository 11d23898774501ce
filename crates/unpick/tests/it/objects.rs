//! What the primitives do beyond `spec`: poisoning, statics, names, limits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::{
    Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use unpick::{Check, Error, thread};

use crate::support::*;

fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

fn once_is_poisoned() {
    let once = Once::new();
    assert!(panics(|| once.call_once(|| panic!("first"))));
    assert!(!once.is_completed());
    assert!(panics(|| once.call_once(|| ())));
    assert!(panics(|| once.wait()));
    once.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(once.is_completed());
    once.call_once(|| panic!("not again"));
    once.wait();
    once.wait_force();
}

fn once_lock_tries_again() {
    let mut cell = OnceLock::new();
    assert!(panics(|| cell.get_or_init(|| panic!("first"))));
    assert_eq!(cell.get(), None);
    assert_eq!(format!("{cell:?}"), "OnceLock(<uninit>)");
    assert_eq!(cell.set(String::from("a")), Ok(()));
    assert_eq!(cell.set(String::from("b")), Err(String::from("b")));
    assert_eq!(cell.clone(), cell);
    assert_eq!(format!("{cell:?}"), "OnceLock(\"a\")");
    cell.get_mut().unwrap().push('c');
    assert_eq!(cell.wait(), "ac");
    assert_eq!(cell.take().as_deref(), Some("ac"));
    assert_eq!(cell.get(), None);
    assert_eq!(cell.take(), None);
    assert_eq!(cell.get_or_init(|| String::from("d")), "d");
    assert_eq!(cell.into_inner().as_deref(), Some("d"));
    assert_eq!(OnceLock::from(5).get(), Some(&5));
    assert_eq!(OnceLock::<u8>::default(), OnceLock::new());
}

fn lazy_lock_stays_poisoned() {
    let mut lazy: LazyLock<u32, _> = LazyLock::new(|| panic!("first"));
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    assert!(panics(|| LazyLock::force(&lazy)));
    assert!(panics(|| LazyLock::force(&lazy)));
    assert!(panics(|| LazyLock::force_mut(&mut lazy)));
    assert_eq!(LazyLock::get(&lazy), None);
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    let mut lazy: LazyLock<u32, _> = LazyLock::new(|| panic!("first"));
    assert!(panics(|| LazyLock::force_mut(&mut lazy)));
    assert!(panics(|| *lazy));
    let mut lazy = LazyLock::new(|| vec![1]);
    assert_eq!(LazyLock::get(&lazy), None);
    lazy.push(2);
    assert_eq!(*lazy, [1, 2]);
    assert_eq!(LazyLock::get(&lazy), Some(&vec![1, 2]));
    let mut lazy = LazyLock::<String>::default();
    assert_eq!(lazy.len(), 0);
    LazyLock::get_mut(&mut lazy).unwrap().push('a');
    assert_eq!(*lazy, "a");
}

fn rwlock_is_poisoned() {
    let mut lock = RwLock::new(1);
    assert!(panics(|| {
        let _reads = lock.read().unwrap();
        panic!("a reader");
    }));
    assert!(!lock.is_poisoned());
    assert!(panics(|| {
        *lock.write().unwrap() += 1;
        let _writes = lock.write().unwrap();
        panic!("a writer");
    }));
    assert!(lock.is_poisoned());
    assert_eq!(lock.read().map(|n| *n).map_err(|error| *error.into_inner()), Err(2));
    assert!(lock.write().is_err() && lock.try_read().is_err() && lock.try_write().is_err());
    assert!(lock.get_mut().is_err());
    lock.clear_poison();
    assert!(!lock.is_poisoned());
    assert_eq!(*lock.read().unwrap(), 2);
    assert_eq!(format!("{:?}", lock.read().unwrap()), "2");
    assert_eq!(format!("{}", lock.write().unwrap()), "2");
    assert_eq!(lock.into_inner().unwrap(), 2);
}

#[test]
fn panics_leave_their_mark() {
    for program in [once_is_poisoned, once_lock_tries_again, lazy_lock_stays_poisoned, rwlock_is_poisoned] {
        program();
        holds(program);
    }
}

#[test]
fn a_lock_is_poisoned_and_made_good() {
    holds(|| {
        let lock = Arc::new(RwLock::new(1));
        let theirs = lock.clone();
        let writer = thread::spawn(move || {
            let _writes = theirs.write().unwrap();
            panic!("a writer");
        });
        assert!(writer.join().is_err());
        assert!(lock.is_poisoned());
        assert!(lock.write().is_err() && lock.try_read().is_err() && lock.try_write().is_err());
        lock.clear_poison();
        assert_eq!((lock.is_poisoned(), *lock.read().unwrap()), (false, 1));
    });
}

/// Whether a lock is poisoned is asked, and taken back, by threads that do not hold it.
#[test]
fn poison_is_seen_and_cleared_at_any_time() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = lock.clone();
        let writer = thread::spawn(move || {
            let _writes = theirs.write().unwrap();
            panic!("a writer");
        });
        let theirs = lock.clone();
        let clears = thread::spawn(move || theirs.clear_poison());
        let looked = lock.is_poisoned();
        let locked = lock.read().is_err();
        assert!(writer.join().is_err());
        clears.join().unwrap();
        digits([looked.into(), locked.into(), lock.is_poisoned().into()])
    });
    // What was poisoned when it was looked at may be made good before the lock is taken.
    assert_eq!(seen, [0, 1, 10, 11, 100, 110, 111].into_iter().collect(), "{verdict}");
}

static LOCK: RwLock<Vec<u32>> = RwLock::new(Vec::new());
static ONCE: Once = Once::new();
static CELL: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Vec<u32>> = LazyLock::new(|| vec![1, 2, 3]);
static BARRIER: Barrier = Barrier::new(2);
static MUTEX: Mutex<bool> = Mutex::new(false);
static CONDITION: Condvar = Condvar::new();

#[test]
fn statics_are_as_new_in_each_execution() {
    let (executions, blocked) = holds(|| {
        assert!(LOCK.read().unwrap().is_empty());
        assert!(!ONCE.is_completed() && CELL.get().is_none() && LazyLock::get(&LAZY).is_none());
        let other = thread::spawn(|| {
            LOCK.write().unwrap().push(1);
            ONCE.call_once(|| ());
            CELL.get_or_init(|| String::from("theirs"));
            assert_eq!(LAZY.len(), 3);
            BARRIER.wait();
            *MUTEX.lock().unwrap() = true;
            CONDITION.notify_all();
        });
        LOCK.write().unwrap().push(2);
        BARRIER.wait();
        drop(CONDITION.wait_while(MUTEX.lock().unwrap(), |ready| !*ready).unwrap());
        other.join().unwrap();
        assert_eq!(LOCK.read().unwrap().len(), 2);
        assert_eq!(CELL.get().map(String::as_str), Some("theirs"));
    });
    // Two orders at the lock, at the barrier, and at the mutex.
    assert_eq!((executions, blocked), (8, 0));
    assert!(LOCK.read().unwrap().is_empty() && CELL.get().is_none() && LazyLock::get(&LAZY).is_none());
}

static MADE_OUTSIDE: OnceLock<String> = OnceLock::new();

#[test]
fn a_static_that_was_made_outside_is_there() {
    MADE_OUTSIDE.get_or_init(|| String::from("outside"));
    holds(|| {
        assert_eq!(MADE_OUTSIDE.get().map(String::as_str), Some("outside"));
        assert_eq!(MADE_OUTSIDE.get_or_init(String::new), "outside");
    });
}

#[test]
fn a_thread_reads_while_it_reads() {
    let (executions, _) = holds(|| {
        let lock = Arc::new(RwLock::new(0));
        let theirs = lock.clone();
        let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
        let first = lock.read().unwrap();
        let second = lock.try_read().unwrap();
        assert_eq!(*first, *second);
        drop(first);
        assert!(lock.try_write().is_err());
        let third = lock.try_read().unwrap();
        assert_eq!(*third, *second);
        drop((second, third));
        writer.join().unwrap();
        assert_eq!(*lock.read().unwrap(), 1);
    });
    assert_eq!(executions, 2);
}

#[test]
fn many_threads_read() {
    holds(|| {
        let lock = Arc::new(RwLock::new(7));
        let guard = lock.read().unwrap();
        for _ in 0..70 {
            let theirs = lock.clone();
            assert_eq!(thread::spawn(move || *theirs.read().unwrap()).join().unwrap(), 7);
        }
        drop(guard);
        *lock.write().unwrap() = 8;
    });
}

/// Readers do not synchronise with each other.
#[test]
fn what_a_reader_wrote_is_not_published() {
    let (seen, _) = outcomes_in(&Check::new(), || {
        let shared = Arc::new((RwLock::new(()), AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.store(1, Relaxed);
            drop(theirs.0.read().unwrap());
            theirs.2.store(1, Relaxed);
        });
        let second = shared.2.load(Relaxed);
        drop(shared.0.read().unwrap());
        let first = shared.1.load(Relaxed);
        other.join().unwrap();
        digits([second, first])
    });
    assert!(seen.contains(&10), "the later is seen, and the earlier is not: {seen:?}");
}

#[test]
fn a_condition_with_two_mutexes_panics() {
    let finding = violated(|| {
        let shared = Arc::new((Mutex::new(()), Mutex::new(()), Condvar::new()));
        let wait = |first: bool| {
            let shared = shared.clone();
            thread::spawn(move || {
                let mutex = if first { &shared.0 } else { &shared.1 };
                drop(shared.2.wait_timeout(mutex.lock().unwrap(), Duration::from_secs(1)).unwrap());
            })
        };
        let threads = [wait(true), wait(false)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(told(&finding).contains("two mutexes"), "{}", told(&finding));
}

#[test]
fn a_late_thread_cannot_wait_for_a_condition() {
    let verdict = Check::new().run(|| {
        for _ in 0..64 {
            thread::spawn(|| ()).join().unwrap();
        }
        let late = thread::spawn(|| {
            let (mutex, condition) = (Mutex::new(()), Condvar::new());
            drop(condition.wait_timeout(mutex.lock().unwrap(), Duration::ZERO).unwrap());
        });
        late.join().unwrap();
    });
    assert!(matches!(&verdict, Err(Error::Misuse { problem }) if problem.contains("Condvar")), "{verdict:?}");
}

#[test]
fn a_wait_with_a_limit_looks_at_the_condition() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let setter = thread::spawn(move || {
            *theirs.0.lock().unwrap() = 1;
            theirs.1.notify_one();
        });
        let (mutex, condition) = &*shared;
        let limit = Duration::from_secs(1);
        let result = condition.wait_timeout_while(mutex.lock().unwrap(), limit, |number| *number == 0);
        let (guard, result) = result.unwrap();
        let outcome = digits([*guard, result.timed_out().into()]);
        drop(guard);
        setter.join().unwrap();
        outcome
    });
    assert_eq!(seen, [1, 10].into_iter().collect());
    // The setter comes first; or it notifies during the wait, or after it, and then it has the mutex
    // before the waiter, or not.
    assert_eq!(counts(&verdict), (4, 0));
}

#[test]
fn threads_have_names_and_identities() {
    fn program() {
        let main = thread::current();
        assert_eq!(main.id(), thread::current().id());
        let builder = thread::Builder::new().name(String::from("named")).stack_size(1 << 20);
        let named = builder.spawn(|| (thread::current().id(), thread::current().name().map(str::to_string)));
        let named = named.unwrap();
        let id = named.thread().id();
        assert!(id != main.id() && format!("{:?}", named.thread()).contains("named"));
        assert_eq!(named.join().unwrap(), (id, Some(String::from("named"))));
        thread::scope(|scope| {
            let scoped = thread::Builder::new().name(String::from("scoped"));
            let scoped = scoped.spawn_scoped(scope, || thread::current().name().map(str::len)).unwrap();
            assert_eq!(scoped.thread().name(), Some("scoped"));
            assert_eq!(scoped.join().unwrap(), Some(6));
            assert!(scope.spawn(|| thread::current().name().is_none()).join().unwrap());
        });
        thread::sleep(Duration::from_millis(1));
        assert!(!thread::panicking() && thread::available_parallelism().is_ok());
        assert!(panics(|| thread::Builder::new().name(String::from("a\0b")).spawn(|| ())));
    }
    program();
    assert_eq!(passes(program), (1, 0));
}

#[test]
fn guards_and_results_are_as_in_std() {
    fn reads_longer<'a: 'b, 'b>(guard: RwLockReadGuard<'b, &'a str>) -> RwLockReadGuard<'b, &'b str> {
        guard
    }
    fn is_sync<T: Sync>() {}
    is_sync::<RwLockReadGuard<'_, u8>>();
    is_sync::<RwLockWriteGuard<'_, u8>>();
    is_sync::<OnceLock<u8>>();
    is_sync::<LazyLock<u8>>();
    let lock = RwLock::new("a");
    assert_eq!(*reads_longer(lock.read().unwrap()), "a");
    let lock: &RwLock<[u8]> = &RwLock::new([1, 2]);
    assert_eq!(lock.read().unwrap().len(), 2);
}
