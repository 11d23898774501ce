//! A thousand checks in one process, from several OS threads at once: they do not disturb each other,
//! and leave no memory behind.

use std::sync::atomic::{AtomicUsize as Counter, Ordering::SeqCst};

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock, Weak, mpsc};
use unpick::{thread, thread_local};

use crate::support::{child, is_child, test_name, text_of};

#[expect(clippy::vec_box, reason = "blocks of memory are the point")]
static SHARED: Mutex<Vec<Box<usize>>> = Mutex::new(Vec::new());
static FIRST: OnceLock<usize> = OnceLock::new();
static LAZY: LazyLock<AtomicUsize> = LazyLock::new(|| AtomicUsize::new(7));

thread_local! {
    static MINE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What a check is expected to say: nothing, or the title of a violation.
type Expected = Option<&'static str>;

/// Two threads that do the same.
fn twice<T: Send + Sync + 'static>(shared: T, work: fn(&T, usize)) -> Arc<T> {
    let shared = Arc::new(shared);
    let theirs = Arc::clone(&shared);
    let thread = thread::spawn(move || work(&theirs, 1));
    work(&shared, 0);
    thread.join().unwrap();
    shared
}

struct Race(UnsafeCell<usize>);
unsafe impl Sync for Race {}

const PROGRAMS: [(fn(usize), Expected); 20] = [
    (
        |n| {
            let sum = twice((Mutex::new(vec![n]), n), |list, _| list.0.lock().unwrap().push(list.1));
            assert_eq!(*sum.0.lock().unwrap(), [n, n, n]);
        },
        None,
    ),
    (
        |_| {
            let sum = twice(AtomicUsize::new(0), |sum, _| {
                let seen = sum.load(Ordering::SeqCst);
                sum.store(seen + 1, Ordering::SeqCst);
            });
            assert_eq!(sum.load(Ordering::SeqCst), 2);
        },
        Some("panic"),
    ),
    (
        |_| {
            twice(Race(UnsafeCell::new(0)), |race, me| race.0.with_mut(|value| unsafe { *value = me }));
        },
        Some("data race"),
    ),
    (
        |_| {
            twice([Mutex::new(0), Mutex::new(0)], |locks, me| {
                let first = locks[me].lock().unwrap();
                let second = locks[1 - me].lock().unwrap();
                assert_eq!(*first + *second, 0);
            });
        },
        Some("deadlock"),
    ),
    (
        |n| {
            let lock = twice((RwLock::new(n), n), |lock, me| {
                if me == 0 {
                    *lock.0.write().unwrap() += 1
                } else {
                    assert!(*lock.0.read().unwrap() >= lock.1)
                }
            });
            assert_eq!(*lock.0.read().unwrap(), n + 1);
        },
        None,
    ),
    (
        |n| {
            let (sender, receiver) = mpsc::channel();
            let thread = thread::spawn(move || sender.send(Box::new(n)).unwrap());
            assert_eq!(*receiver.recv().unwrap(), n);
            assert!(receiver.recv().is_err());
            thread.join().unwrap();
        },
        None,
    ),
    (
        |_| {
            let (sender, receiver) = mpsc::sync_channel::<usize>(1);
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            drop(receiver);
        },
        Some("deadlock"),
    ),
    (
        |_| {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let theirs = Arc::clone(&pair);
            let thread = thread::spawn(move || {
                *theirs.0.lock().unwrap() = true;
                theirs.1.notify_one();
            });
            drop(pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap());
            thread.join().unwrap();
        },
        None,
    ),
    (
        |_| {
            let pair = Arc::new((Mutex::new(()), Condvar::new()));
            let theirs = Arc::clone(&pair);
            let thread = thread::spawn(move || theirs.1.notify_one());
            drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
            thread.join().unwrap();
        },
        Some("deadlock"),
    ),
    (
        |_| {
            twice((Barrier::new(2), AtomicUsize::new(0)), |both, _| {
                both.1.fetch_add(1, Ordering::Relaxed);
                both.0.wait();
                assert_eq!(both.1.load(Ordering::Relaxed), 2);
            });
        },
        None,
    ),
    (
        |n| {
            assert!(SHARED.lock().unwrap().is_empty());
            SHARED.lock().unwrap().push(Box::new(n));
            let thread = thread::spawn(move || SHARED.lock().unwrap().push(Box::new(n)));
            thread.join().unwrap();
            assert!(SHARED.lock().unwrap().iter().all(|number| **number == n));
        },
        None,
    ),
    (
        |n| {
            assert!(FIRST.get().is_none());
            let thread = thread::spawn(move || *FIRST.get_or_init(|| n));
            assert!((n..=n + 1).contains(FIRST.get_or_init(|| n + 1)));
            assert_eq!(Some(&thread.join().unwrap()), FIRST.get());
        },
        None,
    ),
    (
        |n| {
            let thread = thread::spawn(move || LAZY.fetch_add(n, Ordering::Relaxed));
            LAZY.fetch_add(n, Ordering::Relaxed);
            thread.join().unwrap();
            assert_eq!(LAZY.load(Ordering::Relaxed), 7 + 2 * n);
        },
        None,
    ),
    (
        |n| {
            MINE.set(n);
            thread::spawn(|| assert_eq!(MINE.get(), 0)).join().unwrap();
            assert_eq!(MINE.get(), n);
        },
        None,
    ),
    (|_| std::mem::forget(std::hint::black_box(Box::new([0u8; 4096]))), Some("leak")),
    (
        |_| {
            let shared = Arc::new(String::from("shared"));
            let weak: Weak<String> = Arc::downgrade(&shared);
            let thread = thread::spawn(move || weak.upgrade().map_or(0, |text| text.len()));
            drop(shared);
            assert!([0, 6].contains(&thread.join().unwrap()));
        },
        None,
    ),
    (
        |_| {
            let thread = thread::spawn(|| {
                let _unwinds = std::panic::catch_unwind(|| panic!("a job"));
                thread::park();
            });
            thread.thread().unpark();
            thread.join().unwrap();
        },
        None,
    ),
    (|_| thread::park(), Some("deadlock")),
    (
        |_| {
            let block = Arc::new(AtomicUsize::new(0));
            let address = &raw const *block as usize;
            let thread = thread::spawn(move || {
                unsafe { &*(address as *const AtomicUsize) }.fetch_add(1, Ordering::Relaxed);
            });
            drop(block);
            thread.join().unwrap();
        },
        Some("use after free"),
    ),
    (
        |n| {
            let mut list = vec![n; 2];
            thread::scope(|scope| {
                list.iter_mut().for_each(|number| drop(scope.spawn(|| *number += 1)));
            });
            assert_eq!(list, [n + 1, n + 1]);
        },
        None,
    ),
];

/// Memory of the process that is in use, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0)
}

/// Runs all checks with numbers below `to`, in eight threads.
fn run_until(next: &Counter, to: usize) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, SeqCst);
                    if number >= to {
                        next.fetch_sub(1, SeqCst);
                        return;
                    }
                    let (program, expected) = PROGRAMS[number % PROGRAMS.len()];
                    let verdict =
                        unpick::Check::new().allow_vacuous(true).run(move || program(number)).unwrap();
                    let title = verdict.violation().map(|finding| finding.title.clone());
                    assert_eq!(title.as_deref(), expected, "program {}", number % PROGRAMS.len());
                    assert!(title.is_some() || verdict.holds(), "{verdict}");
                }
            });
        }
    });
}

#[test]
fn a_thousand_checks_do_not_disturb_each_other_and_leave_no_memory() {
    if !is_child() {
        let name = test_name!(a_thousand_checks_do_not_disturb_each_other_and_leave_no_memory);
        let output = child(&name, &[]);
        assert!(output.status.success(), "{}", text_of(&output));
        return;
    }
    let next = Counter::new(0);
    run_until(&next, 200);
    let before = resident();
    run_until(&next, 1000);
    let after = resident();
    println!("{before} KiB after 200 checks, {after} KiB after 1,000");
    assert!(after <= before + before / 2, "{before} KiB after 200 checks, {after} KiB after 1,000");
}
