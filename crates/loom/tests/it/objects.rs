//! Locks, channels and notifications.

use crate::fails;
use crate::loom::sync::atomic::Ordering::Relaxed;
use crate::loom::sync::atomic::{AtomicUsize, fence, spin_loop_hint};
use crate::loom::sync::{Arc, Barrier, Condvar, Mutex, Notify, RwLock, mpsc};
use crate::loom::{self, hint, model, thread};

/// A thread waits until it was notified, as often as it must or once.
fn notified(again: bool) {
    let shared = Arc::new((AtomicUsize::new(0), Notify::new()));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        loop {
            theirs.1.wait();
            let value = theirs.0.load(Relaxed);
            // After a notification there is a value, or the next wait would be for ever.
            if value == 1 || !again {
                return value;
            }
        }
    });
    shared.0.store(1, Relaxed);
    shared.1.notify();
    assert_eq!(other.join().unwrap(), 1, "woken without a reason");
}

#[test]
fn a_notification_orders() {
    model(|| notified(false));
    let spurious = || unpick::Check::new().spurious_wakeups(true);
    assert!(spurious().run(|| notified(true)).unwrap().holds());
    assert!(spurious().run(|| notified(false)).unwrap().violation().is_some());
    let report = fails(|| Notify::new().wait());
    assert!(report.contains("deadlock"), "{report}");
}

#[test]
fn one_thread_waits_for_a_notification() {
    let report = fails(|| {
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let other = thread::spawn(move || theirs.wait());
        notify.wait();
        other.join().unwrap();
    });
    assert!(report.contains("deadlock") || report.contains("only one thread"), "{report}");
}

#[test]
fn locks_and_conditions_work() {
    model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(1), Barrier::new(2)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
            theirs.3.wait();
            *theirs.2.read().unwrap()
        });
        let mut ready = shared.0.lock().unwrap();
        while !*ready {
            ready = shared.1.wait(ready).unwrap();
        }
        drop(ready);
        *shared.2.write().unwrap() = 2;
        shared.3.wait();
        assert_eq!(other.join().unwrap(), 2);
    });
}

#[test]
fn channels_carry() {
    model(|| {
        let (sender, receiver) = mpsc::channel();
        let theirs = sender.clone();
        thread::spawn(move || theirs.send(1).unwrap());
        thread::spawn(move || sender.send(2).unwrap());
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn loops_wait() {
    model(|| {
        let ready = Arc::new(AtomicUsize::new(0));
        let theirs = ready.clone();
        thread::spawn(move || theirs.store(1, Relaxed));
        while ready.load(Relaxed) == 0 {
            thread::yield_now();
            hint::spin_loop();
            spin_loop_hint();
        }
        fence(loom::sync::atomic::Ordering::Acquire);
    });
}

#[test]
fn what_is_not_to_be_reached_is_a_panic() {
    // SAFETY: it panics.
    let report = fails(|| unsafe { hint::unreachable_unchecked() });
    assert!(report.contains("unreachable_unchecked"), "{report}");
}
