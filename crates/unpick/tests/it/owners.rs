//! Programs as users write them: values with several owners, channels, and how threads end.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock, mpsc};
use unpick::{thread, thread_local};

use crate::support::{holds, violated};

struct Tells(mpsc::Sender<u32>, u32);

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

#[test]
fn the_last_owner_tells() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(Tells(sender, 7));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.1)
            })
            .collect();
        drop(shared);
        assert_eq!(receiver.recv(), Ok(7));
        assert!(receiver.recv().is_err());
        drop(threads);
    });
    assert_eq!(counts, (6, 0));
}

#[test]
fn one_of_two_unwraps() {
    let counts = holds(|| {
        let shared = Arc::new(Box::new(5));
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || Arc::into_inner(theirs).map_or(0, |n| *n));
        let mine = Arc::into_inner(shared).map_or(0, |n| *n);
        assert_eq!(mine + thread.join().unwrap(), 5);
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn copy_on_write() {
    let counts = holds(|| {
        let shared = Arc::new(vec![1, 2]);
        let mut theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            Arc::make_mut(&mut theirs).push(3);
            theirs.len()
        });
        assert_eq!(shared.len(), 2);
        drop(shared);
        assert_eq!(thread.join().unwrap(), 3);
    });
    assert_eq!(counts, (3, 0));
}

#[test]
fn many_senders() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::channel::<String>();
        for i in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || {
                sender.send(format!("{i}")).unwrap();
                let again = sender.clone();
                drop(sender);
                again.send(format!("{i}!")).unwrap();
            });
        }
        drop(sender);
        let mut all: Vec<_> = receiver.iter().collect();
        all.sort();
        assert_eq!(all, ["0", "0!", "1", "1!"]);
    });
    assert_eq!(counts, (6, 0));
}

#[test]
fn a_rendezvous() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || {
            for i in 0..3 {
                if sender.send(Box::new(i)).is_err() {
                    return i;
                }
            }
            3
        });
        assert_eq!(*receiver.recv().unwrap(), 0);
        assert_eq!(*receiver.recv().unwrap(), 1);
        drop(receiver);
        assert_eq!(thread.join().unwrap(), 2);
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn a_receiver_that_goes_lets_senders_go() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let other = sender.clone();
        let threads =
            [sender, other].map(|sender| thread::spawn(move || while sender.send(Box::new(1)).is_ok() {}));
        drop(receiver.recv());
        drop(receiver);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(counts, (22, 0));
}

thread_local! {
    static REPORTS: RefCell<Option<Tells>> = const { RefCell::new(None) };
}

#[test]
fn a_thread_local_reports_at_the_end() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (1..3)
            .map(|i| {
                let sender = sender.clone();
                thread::spawn(move || REPORTS.set(Some(Tells(sender, i))))
            })
            .collect();
        drop(sender);
        assert_eq!(receiver.iter().sum::<u32>(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn a_value_whose_making_panics_is_made_by_the_other() {
    let counts = holds(|| {
        let cell = Arc::new(OnceLock::new());
        let tries = Arc::new(AtomicUsize::new(0));
        let work = |cell: &OnceLock<Box<usize>>, tries: &AtomicUsize| {
            let made = catch_unwind(AssertUnwindSafe(|| {
                **cell.get_or_init(|| match tries.fetch_add(1, Ordering::Relaxed) {
                    0 => panic!("the first fails"),
                    n => Box::new(n),
                })
            }));
            made.unwrap_or(0)
        };
        let theirs = (Arc::clone(&cell), Arc::clone(&tries));
        let thread = thread::spawn(move || work(&theirs.0, &theirs.1));
        let sum = work(&cell, &tries) + thread.join().unwrap();
        assert_eq!(sum, 1);
        assert_eq!(cell.get().map(|n| **n), Some(1));
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn a_lazy_value_in_a_shared_pointer() {
    let counts = holds(|| {
        let lazy = Arc::new(LazyLock::new(|| vec![String::from("lazy")]));
        let theirs = Arc::clone(&lazy);
        let thread = thread::spawn(move || theirs.len());
        assert_eq!(lazy[0].len() + thread.join().unwrap(), 5);
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn results_that_nobody_takes_are_freed() {
    let counts = holds(|| {
        let first = thread::spawn(|| Box::new(1));
        let second = thread::spawn(|| vec![String::from("result")]);
        drop(first);
        drop(second);
    });
    assert!(counts.0 > 1);
}

#[test]
fn a_verdict_says_that_waits_end_for_a_reason() {
    let says = |verdict: unpick::Verdict| format!("{verdict}").contains("return only for a reason");
    let parks = || {
        let thread = thread::spawn(thread::park);
        thread.thread().unpark();
        thread.join().unwrap();
    };
    assert!(says(crate::support::run(parks)));
    assert!(!says(crate::support::run(|| ())));
    assert!(!says(unpick::Check::new().spurious_wakeups(true).run(parks).unwrap()));
}

#[test]
fn a_sender_in_a_lock_is_how_to_stop() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::channel::<Box<u32>>();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let theirs = Arc::clone(&sender);
        let worker = thread::spawn(move || receiver.into_iter().map(|n| *n).sum::<u32>());
        let stopper = thread::spawn(move || theirs.lock().unwrap().take().is_some());
        let sent = sender.lock().unwrap().as_ref().is_some_and(|sender| sender.send(Box::new(2)).is_ok());
        assert!(stopper.join().unwrap());
        assert_eq!(worker.join().unwrap(), if sent { 2 } else { 0 });
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn readers_and_a_writer_that_becomes_a_reader() {
    let counts = holds(|| {
        let lock = Arc::new(RwLock::new(vec![Box::new(1)]));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let mut list = theirs.write().unwrap();
            list.push(Box::new(2));
            let list = unpick::sync::RwLockWriteGuard::downgrade(list);
            list.len()
        });
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || {
            let first = theirs.read().unwrap();
            first.len() + first.len()
        });
        let seen = lock.read().unwrap().len();
        assert!(seen == 1 || seen == 2);
        assert_eq!(thread.join().unwrap(), 2);
        assert!([2, 4].contains(&other.join().unwrap()));
    });
    assert_eq!(counts, (4, 0));
}

#[test]
fn a_cycle_of_pointers_is_a_leak() {
    struct Cycle(Mutex<Option<Arc<Cycle>>>);
    let finding = violated(|| {
        let cycle = Arc::new(Cycle(Mutex::new(None)));
        *cycle.0.lock().unwrap() = Some(Arc::clone(&cycle));
    });
    assert_eq!(finding.title, "leak");
}

#[test]
fn two_waiters_and_one_wake_up_for_each() {
    let counts = holds(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pair = Arc::clone(&pair);
                thread::spawn(move || {
                    let mut left = pair.1.wait_while(pair.0.lock().unwrap(), |left| *left == 0).unwrap();
                    *left -= 1;
                })
            })
            .collect();
        for _ in 0..2 {
            *pair.0.lock().unwrap() += 1;
            pair.1.notify_one();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(counts.0 > 1);
}

#[test]
fn too_many_threads_that_read_at_once_are_refused() {
    let error = unpick::Check::new().run(|| {
        let lock = RwLock::new(());
        let barrier = Barrier::new(40);
        thread::scope(|scope| {
            for _ in 0..40 {
                scope.spawn(|| {
                    let _guard = lock.read().unwrap();
                    barrier.wait();
                });
            }
        });
    });
    assert!(error.is_err_and(|error| error.to_string().contains("more than 32 threads read")));
}
