//! Small programs with known numbers of executions.

use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::{Check, Verdict, thread};

fn executions(verdict: &Verdict) -> (u64, u64) {
    assert!(verdict.holds(), "{verdict}");
    (verdict.stats().executions, verdict.stats().blocked)
}

#[test]
fn store_buffering_has_four_executions() {
    let verdict = Check::new().run(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (x2, y2) = (x.clone(), y.clone());
        let t = thread::spawn(move || {
            x2.store(1, Relaxed);
            y2.load(Relaxed)
        });
        y.store(1, Relaxed);
        x.load(Relaxed);
        t.join().unwrap();
    });
    assert_eq!(executions(&verdict.unwrap()), (4, 0));
}

#[test]
fn increments_under_a_lock_commute_in_no_way() {
    let verdict = Check::new().run(|| {
        let n = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let n = n.clone();
                thread::spawn(move || *n.lock().unwrap() += 1)
            })
            .collect();
        for t in threads {
            t.join().unwrap();
        }
        assert_eq!(*n.lock().unwrap(), 4);
    });
    assert_eq!(executions(&verdict.unwrap()), (24, 0));
}

#[test]
fn message_passing_without_release_is_found() {
    let verdict = Check::new()
        .run(|| {
            let (data, flag) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (data2, flag2) = (data.clone(), flag.clone());
            thread::spawn(move || {
                data2.store(1, Relaxed);
                flag2.store(1, Relaxed);
            });
            if flag.load(Acquire) == 1 {
                assert_eq!(data.load(Relaxed), 1);
            }
        })
        .unwrap();
    let finding = verdict.violation().expect("a violation");
    eprintln!("{}", unpick::report::text(finding, &Default::default()));
}

#[test]
fn spin() {
    let verdict = Check::new()
        .run(|| {
            let l = Arc::new(AtomicUsize::new(0));
            let n = Arc::new(unpick::cell::UnsafeCell::new(0));
            struct S<T>(T);
            unsafe impl<T> Send for S<T> {}
            let go = |l: Arc<AtomicUsize>, n: S<Arc<unpick::cell::UnsafeCell<i32>>>| {
                let n = n;
                while l.swap(1, Acquire) == 1 {
                    while l.load(Relaxed) == 1 {}
                }
                n.0.with_mut(|p| unsafe { *p += 1 });
                l.store(0, Release);
            };
            let ts: Vec<_> = (0..3)
                .map(|_| {
                    let (l, n) = (l.clone(), S(n.clone()));
                    thread::spawn(move || go(l, n))
                })
                .collect();
            for t in ts {
                t.join().unwrap();
            }
        })
        .unwrap();
    eprintln!("{verdict}");
    assert!(verdict.holds());
}
