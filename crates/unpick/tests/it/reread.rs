//! Locks that a thread reads once more while it reads: a writer that waits in between may keep it out.

use unpick::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use unpick::sync::{Arc, RwLock, RwLockWriteGuard};
use unpick::{Check, thread};

use crate::support::{counts, holds, passes, told, violated};

/// Reads, and reads once more meanwhile.
fn read_twice(lock: &RwLock<u32>) -> u32 {
    let first = lock.read().unwrap();
    let second = lock.read().unwrap();
    *first + *second
}

/// A thread that runs `f` on the lock.
fn beside(lock: &Arc<RwLock<u32>>, f: impl FnOnce(&RwLock<u32>) + Send + 'static) -> thread::JoinHandle<()> {
    let theirs = Arc::clone(lock);
    thread::spawn(move || f(&theirs))
}

#[test]
fn a_writer_between_two_reads_of_a_thread_is_a_deadlock() {
    let finding = violated(|| {
        let lock = Arc::new(RwLock::new(1));
        let writer = beside(&lock, |lock| *lock.write().unwrap() += 1);
        read_twice(&lock);
        writer.join().unwrap();
    });
    let report = told(&finding);
    assert_eq!(finding.title, "deadlock", "{report}");
    for part in ["to read `lock`, which it reads already, behind a", "for `lock`, held by main"] {
        assert!(report.contains(part), "{report}");
    }
}

#[test]
fn one_read_after_the_other_is_none() {
    let one_by_one = || {
        let lock = Arc::new(RwLock::new(1));
        let writer = beside(&lock, |lock| *lock.write().unwrap() += 1);
        let first = *lock.read().unwrap();
        let second = *lock.read().unwrap();
        assert!(first <= second);
        writer.join().unwrap();
    };
    assert_eq!(holds(one_by_one), (3, 0));
}

#[test]
fn nobody_writes_meanwhile() {
    assert_eq!(
        passes(|| {
            let lock = Arc::new(RwLock::new(1));
            let reader = beside(&lock, |lock| assert_eq!(read_twice(lock), 2));
            read_twice(&lock);
            reader.join().unwrap();
        }),
        (1, 0),
        "nobody writes at all"
    );
    let before_and_after = || {
        let lock = Arc::new(RwLock::new(1));
        beside(&lock, |lock| *lock.write().unwrap() += 1).join().unwrap();
        assert_eq!(read_twice(&lock), 4);
        beside(&lock, |lock| *lock.write().unwrap() += 1).join().unwrap();
        assert_eq!(*lock.read().unwrap(), 3);
    };
    assert_eq!(holds(before_and_after), (1, 1), "one guess is wrong");
    // The writer begins when the second read is over.
    let after = || {
        let (lock, done) = (Arc::new(RwLock::new(1)), Arc::new(AtomicBool::new(false)));
        let theirs = Arc::clone(&done);
        let writer = beside(&lock, move |lock| {
            if theirs.load(Acquire) {
                *lock.write().unwrap() += 1;
            }
        });
        assert_eq!(read_twice(&lock), 2);
        done.store(true, Release);
        writer.join().unwrap();
    };
    assert!(holds(after).0 == 2);
}

#[test]
fn a_writer_that_only_tries_does_not_wait() {
    holds(|| {
        let lock = Arc::new(RwLock::new(1));
        let writer = beside(&lock, |lock| {
            if let Ok(mut value) = lock.try_write() {
                *value += 1;
            }
        });
        read_twice(&lock);
        writer.join().unwrap();
    });
}

#[test]
fn another_lock_is_no_obstacle() {
    holds(|| {
        let (lock, other) = (Arc::new(RwLock::new(1)), Arc::new(RwLock::new(1)));
        let writer = beside(&other, |other| *other.write().unwrap() += 1);
        read_twice(&lock);
        drop(other.read().unwrap());
        writer.join().unwrap();
    });
    // Locks within each other are no second read, though the types are the same.
    holds(|| {
        let (lock, other) = (Arc::new(RwLock::new(1)), Arc::new(RwLock::new(1)));
        let writer = beside(&other, |other| *other.write().unwrap() += 1);
        let first = lock.read().unwrap();
        let second = other.read().unwrap();
        assert!(*first <= *second);
        drop((first, second));
        writer.join().unwrap();
    });
}

#[test]
fn the_second_read_may_be_deep_inside() {
    struct Tree(RwLock<u32>);
    impl Tree {
        fn size(&self) -> u32 {
            *self.0.read().unwrap()
        }
        fn twice(&self) -> u32 {
            let own = self.0.read().unwrap();
            *own + self.size()
        }
    }
    let finding = violated(|| {
        let tree = Arc::new(Tree(RwLock::new(1)));
        let theirs = Arc::clone(&tree);
        let writer = thread::spawn(move || *theirs.0.write().unwrap() = 5);
        let reader = Arc::clone(&tree);
        let reader = thread::spawn(move || reader.twice());
        assert!([1, 5].contains(&tree.size()));
        reader.join().unwrap();
        writer.join().unwrap();
    });
    assert_eq!(finding.title, "deadlock");
}

#[test]
fn who_writes_and_then_reads_may_wait_for_the_next_writer() {
    let downgraded = |again: bool| {
        move || {
            let lock = Arc::new(RwLock::new(1));
            let writer = beside(&lock, |lock| *lock.write().unwrap() += 1);
            let reads = RwLockWriteGuard::downgrade(lock.write().unwrap());
            if again {
                assert_eq!(*lock.read().unwrap(), *reads);
            }
            drop(reads);
            writer.join().unwrap();
        }
    };
    assert_eq!(violated(downgraded(true)).title, "deadlock");
    holds(downgraded(false));
}

#[test]
fn a_panic_in_an_execution_with_a_wrong_guess_counts_for_nothing() {
    holds(|| {
        let lock = Arc::new(RwLock::new(1));
        beside(&lock, |lock| *lock.write().unwrap() += 1).join().unwrap();
        let panics = thread::spawn(|| panic!("somebody looks at it"));
        read_twice(&lock);
        assert!(panics.join().is_err());
    });
}

#[test]
fn three_threads_are_stuck_together() {
    let finding = violated(|| {
        let (lock, count) = (Arc::new(RwLock::new(1)), Arc::new(AtomicUsize::new(0)));
        let writer = beside(&lock, |lock| *lock.write().unwrap() += 1);
        let theirs = Arc::clone(&count);
        let reader = beside(&lock, move |lock| {
            theirs.fetch_add(1, Relaxed);
            read_twice(lock);
        });
        drop(lock.read().unwrap());
        writer.join().unwrap();
        reader.join().unwrap();
    });
    assert_eq!(finding.title, "deadlock");
}

#[test]
fn samplers_find_it() {
    for strategy in ["random", "pct:2", "in-order", "optimal"] {
        let check = Check::new().strategy(strategy).max_executions(2000);
        let verdict = check.run(|| {
            let lock = Arc::new(RwLock::new(1));
            let writer = beside(&lock, |lock| *lock.write().unwrap() += 1);
            read_twice(&lock);
            writer.join().unwrap();
        });
        let verdict = verdict.unwrap();
        assert_eq!(
            verdict.violation().map(|found| found.title.as_str()),
            Some("deadlock"),
            "{strategy}: {verdict}"
        );
    }
}

#[test]
fn programs_that_do_not_read_again_have_as_many_executions_as_ever() {
    let program = || {
        let lock = Arc::new(RwLock::new(1));
        let threads: Vec<_> = (0..2).map(|_| beside(&lock, |lock| drop(lock.read().unwrap()))).collect();
        *lock.write().unwrap() += 1;
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    assert_eq!(counts(&Check::new().run(program).unwrap()), (4, 0));
}
