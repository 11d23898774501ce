//! Threads, thread-locals, statics and futures.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Mutex as StdMutex;
use std::task::Poll;

use crate::fails;
use crate::loom::future::{AtomicWaker, block_on};
use crate::loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::loom::sync::atomic::{AtomicBool, AtomicUsize};
use crate::loom::sync::{Arc, Mutex};
use crate::loom::{self, model, thread};

#[test]
fn threads_take_what_cannot_be_sent() {
    model(|| {
        let lock = Rc::new(Mutex::new(1));
        let theirs = lock.clone();
        let other = thread::spawn(move || {
            *theirs.lock().unwrap() += 1;
            theirs
        });
        let back = other.join().unwrap();
        assert_eq!((*back.lock().unwrap(), Rc::strong_count(&lock)), (2, 2));
    });
}

#[test]
fn threads_have_names_and_identities() {
    model(|| {
        assert_eq!(thread::current().name(), None);
        let first = thread::current().id();
        let builder = thread::Builder::new().name(String::from("worker")).stack_size(1 << 20);
        let worker = builder.spawn(move || {
            thread::park();
            assert_eq!(thread::current().name(), Some("worker"));
            thread::current().id()
        });
        let worker = worker.unwrap();
        assert_eq!(worker.thread().name(), Some("worker"));
        worker.thread().unpark();
        let id = worker.thread().id();
        assert!(id != first && format!("{worker:?} {:?}", worker.thread()).contains("worker"));
        assert_eq!(worker.join().unwrap(), id);
    });
}

#[test]
fn there_are_no_threads_outside_a_model() {
    let problem = crate::failure(|| drop(thread::spawn(|| ())));
    assert!(problem.contains("inside a model"), "{problem}");
}

#[test]
fn a_panic_of_a_thread_that_nobody_sees_fails() {
    let report = fails(|| drop(thread::spawn(|| panic!("on purpose"))));
    assert!(report.contains("on purpose"), "{report}");
}

loom::lazy_static! {
    /// A list that every execution begins anew.
    static ref LIST: Mutex<Vec<u32>> = Mutex::new(vec![1]);
    pub(crate) static ref MADE: AtomicUsize = AtomicUsize::new(MAKING.with(|making| making.replace(5)));
}

loom::thread_local! {
    static MAKING: RefCell<usize> = RefCell::new(3);
}

#[test]
fn statics_are_made_once_in_each_execution() {
    model(|| {
        let other = thread::spawn(|| {
            LIST.lock().unwrap().push(2);
            MADE.fetch_add(1, Relaxed)
        });
        LIST.lock().unwrap().push(2);
        MADE.fetch_add(1, Relaxed);
        other.join().unwrap();
        assert_eq!((LIST.lock().unwrap().as_slice(), MADE.load(Relaxed)), ([1, 2, 2].as_slice(), 5));
    });
}

#[test]
fn thread_locals_are_those_of_threads() {
    model(|| {
        MAKING.with(|making| *making.borrow_mut() = 9);
        let theirs = thread::spawn(|| MAKING.try_with(|making| *making.borrow())).join().unwrap();
        assert_eq!((theirs, MAKING.with(|making| *making.borrow())), (Ok(3), 9));
    });
}

/// A value that another thread makes, and how often the future that waits for it was polled.
fn polls(register_first: bool) -> usize {
    let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    let theirs = shared.clone();
    thread::spawn(move || {
        theirs.0.store(true, Relaxed);
        theirs.1.wake();
    });
    let mut polls = 0;
    block_on(poll_fn(|context| {
        polls += 1;
        if register_first {
            shared.1.register_by_ref(context.waker());
        }
        let ready = shared.0.load(Relaxed);
        if !register_first {
            shared.1.register(context.waker().clone());
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }));
    polls
}

#[test]
fn futures_are_polled_once_without_a_reason() {
    let seen: &'static _ = Box::leak(Box::new(StdMutex::new(BTreeSet::new())));
    model(move || _ = seen.lock().unwrap().insert(polls(true)));
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from([1, 2, 3]));
}

/// A future that takes its second poll for the wake-up that it waits for.
#[test]
fn a_future_that_takes_a_poll_for_a_wake_up_is_found() {
    let report = fails(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.0.store(true, Release);
            theirs.1.wake();
        });
        let mut polled = false;
        block_on(poll_fn(|context| {
            shared.1.register_by_ref(context.waker());
            if std::mem::replace(&mut polled, true) || shared.0.load(Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        assert!(shared.0.load(Acquire), "nothing was sent");
    });
    assert!(report.contains("nothing was sent"), "{report}");
}

/// Otherwise the loop would go on for ever: each round wakes, which is a write.
#[test]
fn a_future_that_wakes_itself_waits() {
    model(|| {
        let ready = Arc::new(AtomicBool::new(false));
        let theirs = ready.clone();
        thread::spawn(move || theirs.store(true, Relaxed));
        block_on(poll_fn(|context| {
            context.waker().wake_by_ref();
            if ready.load(Relaxed) { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
}

#[test]
fn a_lost_wake_up_is_found() {
    let report = fails(|| _ = polls(false));
    assert!(report.contains("deadlock"), "{report}");
}

loom::lazy_static! {
    /// A counter that is not seen.
    static ref NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
}

#[test]
fn a_hidden_counter_in_a_static_has_an_order() {
    let report = fails(|| {
        NEXT.fetch_add(1, Relaxed);
        let other = thread::spawn(|| assert_eq!(NEXT.fetch_add(1, Relaxed), 2, "main came last"));
        NEXT.fetch_add(1, Relaxed);
        other.join().unwrap();
    });
    assert!(report.contains("main came last"), "{report}");
}

loom::lazy_static! {
    static ref LOCK: Mutex<()> = Mutex::new(());
    static ref GUARD: RefCell<Option<loom::sync::MutexGuard<'static, ()>>> = RefCell::new(None);
}

/// As with loom, a static may hold what threads could not share otherwise: a guard of a lock here, for a critical section that
/// begins and ends in different calls.
#[test]
fn statics_hold_what_is_not_sync() {
    fn section() {
        let guard = LOCK.lock().unwrap();
        assert!(GUARD.replace(Some(guard)).is_none());
        drop(GUARD.take());
    }
    model(|| {
        let other = thread::spawn(section);
        section();
        other.join().unwrap();
    });
}

#[test]
fn the_panic_that_goes_on_is_blamed() {
    let message = fails(|| {
        let first = std::panic::catch_unwind(|| panic!("one is first")).unwrap_err();
        let _second = std::panic::catch_unwind(|| panic!("one is second")).unwrap_err();
        std::panic::resume_unwind(first);
    });
    assert!(message.contains("one is first") && !message.contains("one is second"), "{message}");
    // With memory of the system, since a pointer is captured.
    let kept = std::sync::Arc::new(StdMutex::new(0));
    let message = fails(move || {
        *kept.lock().unwrap() += 1;
        let other = thread::spawn(|| panic!("one is elsewhere"));
        let payload = other.join().unwrap_err();
        let _second = std::panic::catch_unwind(|| panic!("one is second")).unwrap_err();
        std::panic::resume_unwind(payload);
    });
    assert!(message.contains("one is elsewhere") && !message.contains("one is second"), "{message}");
}
