//! Weak memory, through the types of the library.

use std::collections::BTreeSet;
use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::*;
use unpick::{Check, thread};

use crate::support::*;

/// Atomics that all threads of a program share.
fn shared<const N: usize>() -> Arc<[AtomicUsize; N]> {
    Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)))
}

/// Runs a closure in a new thread, with the shared atomics.
fn go<const N: usize, T: Send + 'static>(
    vars: &Arc<[AtomicUsize; N]>,
    f: impl FnOnce(&[AtomicUsize; N]) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let vars = Arc::clone(vars);
    thread::spawn(move || f(&vars))
}

fn set(numbers: &[u64]) -> BTreeSet<u64> {
    numbers.iter().copied().collect()
}

#[test]
fn two_crossed_sums_have_three_outcomes() {
    for model in ["cpp20", "rc11", "sc"] {
        let seen = outcomes(model, || {
            let v: Arc<[AtomicUsize; 2]> = Arc::new([AtomicUsize::new(1), AtomicUsize::new(1)]);
            let t = go(&v, |[i, j]| i.store(i.load(SeqCst) + j.load(SeqCst), SeqCst));
            let [i, j] = &*v;
            j.store(j.load(SeqCst) + i.load(SeqCst), SeqCst);
            t.join().unwrap();
            digits([i.load(SeqCst), j.load(SeqCst)])
        });
        assert_eq!(seen, set(&[22, 23, 32]), "{model}");
    }
}

fn store_buffering(order: Ordering) -> impl Fn() -> u64 + Send + Sync + 'static {
    move || {
        let v = shared::<2>();
        let t = go(&v, move |[x, y]| {
            x.store(1, order);
            y.load(if order == Release { Acquire } else { order })
        });
        let [x, y] = &*v;
        y.store(1, order);
        let b = x.load(if order == Release { Acquire } else { order });
        digits([t.join().unwrap(), b])
    }
}

#[test]
fn store_buffering_per_model_and_order() {
    for model in ["cpp20", "rc11", "sc", "tso"] {
        assert_eq!(outcomes(model, store_buffering(SeqCst)), set(&[1, 10, 11]), "{model}");
    }
    for model in ["cpp20", "rc11", "tso", "ra"] {
        assert_eq!(outcomes(model, store_buffering(Relaxed)), set(&[0, 1, 10, 11]), "{model}");
        assert_eq!(outcomes(model, store_buffering(Release)), set(&[0, 1, 10, 11]), "{model}");
    }
    assert_eq!(outcomes("sc", store_buffering(Relaxed)), set(&[1, 10, 11]));
}

#[test]
fn store_buffering_with_fences_and_with_updates() {
    for model in ["cpp20", "rc11", "sc", "tso"] {
        let seen = outcomes(model, || {
            let v = shared::<2>();
            let t = go(&v, |[x, y]| {
                x.store(1, Relaxed);
                fence(SeqCst);
                y.load(Relaxed)
            });
            let [x, y] = &*v;
            y.store(1, Relaxed);
            fence(SeqCst);
            let b = x.load(Relaxed);
            digits([t.join().unwrap(), b])
        });
        assert_eq!(seen, set(&[1, 10, 11]), "{model}");
        let seen = outcomes(model, || {
            let v = shared::<2>();
            let t = go(&v, |[x, y]| {
                x.swap(1, SeqCst);
                y.load(SeqCst)
            });
            let [x, y] = &*v;
            y.swap(1, SeqCst);
            let b = x.load(SeqCst);
            digits([t.join().unwrap(), b])
        });
        assert_eq!(seen, set(&[1, 10, 11]), "{model}, updates");
    }
    // One fence is not enough.
    let seen = outcomes("cpp20", || {
        let v = shared::<2>();
        let t = go(&v, |[x, y]| {
            x.store(1, Relaxed);
            fence(SeqCst);
            y.load(Relaxed)
        });
        let [x, y] = &*v;
        y.store(1, Relaxed);
        fence(AcqRel);
        let b = x.load(Relaxed);
        digits([t.join().unwrap(), b])
    });
    assert_eq!(seen, set(&[0, 1, 10, 11]));
}

fn iriw(store: Ordering, load: Ordering) -> impl Fn() -> u64 + Send + Sync + 'static {
    move || {
        let v = shared::<2>();
        let a = go(&v, move |[x, _]| x.store(1, store));
        let b = go(&v, move |[_, y]| y.store(1, store));
        let c = go(&v, move |[x, y]| (x.load(load), y.load(load)));
        let d = go(&v, move |[x, y]| (y.load(load), x.load(load)));
        a.join().unwrap();
        b.join().unwrap();
        let (c, d) = (c.join().unwrap(), d.join().unwrap());
        digits([c.0, c.1, d.0, d.1])
    }
}

#[test]
fn independent_reads_of_independent_writes() {
    for model in ["cpp20", "rc11", "sc", "tso"] {
        let seen = outcomes(model, iriw(SeqCst, SeqCst));
        assert_eq!(seen.len(), 15, "{model}: {seen:?}");
        assert!(!seen.contains(&1010), "{model}");
    }
    for model in ["cpp20", "rc11", "ra"] {
        let seen = outcomes(model, iriw(Release, Acquire));
        assert_eq!(seen.len(), 16, "{model}: {seen:?}");
    }
    assert!(!outcomes("tso", iriw(Relaxed, Relaxed)).contains(&1010));
}

#[test]
fn two_plus_two_writes() {
    let program = |order| {
        move || {
            let v = shared::<2>();
            let t = go(&v, move |[x, y]| {
                x.store(1, order);
                y.store(2, order);
            });
            let [x, y] = &*v;
            y.store(1, order);
            x.store(2, order);
            t.join().unwrap();
            digits([x.load(SeqCst), y.load(SeqCst)])
        }
    };
    for model in ["cpp20", "rc11", "sc", "tso"] {
        assert_eq!(outcomes(model, program(SeqCst)), set(&[12, 21, 22]), "{model}");
    }
    for model in ["cpp20", "rc11", "ra"] {
        assert_eq!(outcomes(model, program(Relaxed)), set(&[11, 12, 21, 22]), "{model}");
    }
    assert_eq!(outcomes("tso", program(Relaxed)), set(&[12, 21, 22]), "stores stay in order");
}

#[test]
fn load_buffering_is_excluded() {
    let seen = outcomes("cpp20", || {
        let v = shared::<2>();
        let t = go(&v, |[x, y]| {
            let a = x.load(Relaxed);
            y.store(1, Relaxed);
            a
        });
        let [x, y] = &*v;
        let b = y.load(Relaxed);
        x.store(1, Relaxed);
        digits([t.join().unwrap(), b])
    });
    assert_eq!(seen, set(&[0, 1, 10]));
}

#[test]
fn a_failing_exchange_can_see_a_stale_value() {
    // The flag is seen, but the exchange that fails reads x from before the write.
    let program = |success, failure| {
        move || {
            let v = shared::<2>();
            let t = go(&v, |[x, flag]| {
                x.store(1, Relaxed);
                flag.store(1, Relaxed);
            });
            let [x, flag] = &*v;
            let f = flag.load(Relaxed);
            let r = match x.compare_exchange(7, 8, success, failure) {
                Ok(_) => 9,
                Err(old) => old,
            };
            t.join().unwrap();
            digits([f, r])
        }
    };
    for (success, failure) in [(Relaxed, Relaxed), (SeqCst, Relaxed), (AcqRel, Acquire), (SeqCst, SeqCst)] {
        assert_eq!(outcomes("cpp20", program(success, failure)), set(&[0, 1, 10, 11]), "{success:?}");
    }
    // A successful one cannot: an update reads the newest.
    let seen = outcomes("cpp20", || {
        let v = shared::<1>();
        let t = go(&v, |[x]| x.compare_exchange(0, 1, Relaxed, Relaxed).is_ok());
        let mine = v[0].compare_exchange(0, 1, Relaxed, Relaxed).is_ok();
        digits([usize::from(t.join().unwrap()), usize::from(mine)])
    });
    assert_eq!(seen, set(&[1, 10]));
}

#[test]
fn the_failure_order_of_an_exchange_counts() {
    let program = |failure| {
        move || {
            let v = shared::<2>();
            let t = go(&v, |[data, flag]| {
                data.store(1, Relaxed);
                flag.store(1, Release);
            });
            let [data, flag] = &*v;
            let f = flag.compare_exchange(5, 6, Relaxed, failure).unwrap_err();
            let d = data.load(Relaxed);
            t.join().unwrap();
            digits([f, d])
        }
    };
    assert_eq!(outcomes("cpp20", program(Relaxed)), set(&[0, 1, 10, 11]));
    assert_eq!(outcomes("cpp20", program(Acquire)), set(&[0, 1, 11]));
}

#[test]
fn an_update_and_a_store_have_one_order() {
    // Either the store is before the swap, which then returns 1 and leaves 0, or after it.
    for order in [Relaxed, SeqCst] {
        for model in ["cpp20", "rc11", "sc", "tso", "ra"] {
            let (seen, verdict) = outcomes_in(&Check::new().model(model), move || {
                let v = shared::<1>();
                let t = go(&v, move |[x]| x.store(1, order));
                let before = v[0].swap(0, order);
                t.join().unwrap();
                digits([before, v[0].load(order)])
            });
            assert_eq!(seen, set(&[1, 10]), "{model} {order:?}");
            assert_eq!(verdict.stats().executions, 2);
        }
    }
}

#[test]
fn a_long_history_is_readable() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let v = shared::<1>();
        let t = go(&v, |[x]| (1..=9).for_each(|n| x.store(n, Relaxed)));
        let n = v[0].load(Relaxed);
        t.join().unwrap();
        n as u64
    });
    assert_eq!(seen, (0..=9).collect());
    assert_eq!(verdict.stats().executions, 10);
}

#[test]
fn a_thread_reads_forwards_only() {
    let (seen, _) = outcomes_in(&Check::new(), || {
        let v = shared::<1>();
        let t = go(&v, |[x]| (1..=3).for_each(|n| x.store(n, Relaxed)));
        let (a, b) = (v[0].load(Relaxed), v[0].load(Relaxed));
        t.join().unwrap();
        digits([a, b])
    });
    assert_eq!(seen, set(&[0, 1, 2, 3, 11, 12, 13, 22, 23, 33]));
}

#[test]
fn twelve_threads_run() {
    let verdict = run(|| {
        let v: Arc<Vec<AtomicUsize>> = Arc::new((0..12).map(|_| AtomicUsize::new(0)).collect());
        let threads: Vec<_> = (0..12)
            .map(|n| {
                let v = v.clone();
                thread::spawn(move || v[n].store(n, Relaxed))
            })
            .collect();
        for t in threads {
            t.join().unwrap();
        }
        assert_eq!(v.iter().map(|x| x.load(Relaxed)).sum::<usize>(), 66);
    });
    assert_eq!(counts(&verdict), (1, 0));
    let (executions, _) = holds(|| {
        let v = shared::<1>();
        let writer = go(&v, |[x]| x.store(1, Relaxed));
        let readers: Vec<_> = (0..11).map(|_| go(&v, |[x]| x.load(Relaxed))).collect();
        writer.join().unwrap();
        readers.into_iter().for_each(|t| assert!(t.join().unwrap() < 2));
    });
    assert_eq!(executions, 1 << 11);
}

#[test]
fn forty_threads_run() {
    let (executions, _) = holds(|| {
        let v = shared::<1>();
        let threads: Vec<_> = (0..40).map(|_| go(&v, |[x]| x.load(Relaxed))).collect();
        threads.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), 0));
    });
    assert_eq!(executions, 1);
}

#[test]
fn message_passing_with_all_orders() {
    for (store, load) in [
        (Relaxed, Relaxed),
        (Release, Relaxed),
        (Relaxed, Acquire),
        (Release, Acquire),
        (SeqCst, Acquire),
        (Release, SeqCst),
        (SeqCst, SeqCst),
        (SeqCst, Relaxed),
        (Relaxed, SeqCst),
    ] {
        let program = move || {
            let v = shared::<2>();
            let t = go(&v, move |[data, flag]| {
                data.store(1, Relaxed);
                flag.store(1, store);
            });
            let [data, flag] = &*v;
            let f = flag.load(load);
            let d = data.load(Relaxed);
            t.join().unwrap();
            digits([f, d])
        };
        let synchronises = store != Relaxed && load != Relaxed;
        let expected = if synchronises { set(&[0, 1, 11]) } else { set(&[0, 1, 10, 11]) };
        assert_eq!(outcomes("cpp20", program), expected, "{store:?} {load:?}");
        assert_eq!(outcomes("rc11", program), expected, "{store:?} {load:?}");
        for model in ["sc", "tso", "ra"] {
            assert_eq!(outcomes(model, program), set(&[0, 1, 11]), "{store:?} {load:?} {model}");
        }
    }
}

#[test]
fn message_passing_with_fences() {
    for (writer, reader, synchronises) in [
        (Some(Release), Some(Acquire), true),
        (Some(AcqRel), Some(AcqRel), true),
        (Some(SeqCst), Some(SeqCst), true),
        (Some(Release), None, false),
        (None, Some(Acquire), false),
        (Some(Acquire), Some(Release), false),
    ] {
        let seen = outcomes("cpp20", move || {
            let v = shared::<2>();
            let t = go(&v, move |[data, flag]| {
                data.store(1, Relaxed);
                writer.into_iter().for_each(fence);
                flag.store(1, Relaxed);
            });
            let [data, flag] = &*v;
            let f = flag.load(Relaxed);
            reader.into_iter().for_each(fence);
            let d = data.load(Relaxed);
            t.join().unwrap();
            digits([f, d])
        });
        assert_eq!(!seen.contains(&10), synchronises, "{writer:?} {reader:?}");
    }
}

/// A writer releases a cell by a store; another thread changes the flag; a reader acquires.
fn release_sequence(by_update: bool, release: Ordering) -> impl Fn() + Send + Sync + 'static {
    struct Shared {
        data: UnsafeCell<usize>,
        flag: AtomicUsize,
    }
    // SAFETY: what the test is about.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    move || {
        let s = Arc::new(Shared { data: UnsafeCell::new(0), flag: AtomicUsize::new(0) });
        let (a, b) = (s.clone(), s.clone());
        thread::spawn(move || {
            a.data.with_mut(|data| unsafe { *data = 1 });
            a.flag.store(1, release);
        });
        thread::spawn(move || {
            if by_update {
                b.flag.fetch_add(10, Relaxed);
            } else if b.flag.load(Relaxed) == 1 {
                b.flag.store(11, Relaxed);
            }
        });
        if s.flag.load(Acquire) == 11 {
            assert_eq!(s.data.with(|data| unsafe { *data }), 1);
        }
    }
}

#[test]
fn release_sequences_go_through_updates_only() {
    holds(release_sequence(true, Release));
    holds(release_sequence(true, SeqCst));
    assert_eq!(violated(release_sequence(true, Relaxed)).title, "data race");
    assert_eq!(violated(release_sequence(false, Release)).title, "data race");
}

/// A store by the releasing thread itself does not continue its sequence in C++20.
#[test]
fn a_later_relaxed_store_ends_a_release_sequence() {
    let program = || {
        let v = shared::<2>();
        let t = go(&v, |[data, flag]| {
            data.store(1, Relaxed);
            flag.store(1, Release);
            flag.store(2, Relaxed);
        });
        let [data, flag] = &*v;
        let f = flag.load(Acquire);
        let d = data.load(Relaxed);
        t.join().unwrap();
        digits([f, d])
    };
    assert!(outcomes("cpp20", program).contains(&20));
    assert!(!outcomes("cpp20", program).contains(&10));
}

/// Each method does on our atomic what it does on std's.
macro_rules! same {
    ($ours:ident $std:ident $old:ident $new:ident: $($method:ident)*) => {
        $(
            $ours.store($old, Relaxed);
            $std.store($old, Relaxed);
            let name = stringify!($method);
            assert_eq!($ours.$method($new, AcqRel), $std.$method($new, AcqRel), "{name}");
            assert_eq!($ours.load(Relaxed), $std.load(Relaxed), "{name} {} {}", $old, $new);
        )*
    };
}

macro_rules! widths {
    ($($test:ident $atomic:ident $int:ident;)*) => {
        $(
            #[test]
            fn $test() {
                const CASES: [($int, $int); 9] = [
                    ($int::MAX, 1),
                    ($int::MIN, 1),
                    (0, 1),
                    (1, $int::MAX),
                    ($int::MAX, $int::MAX),
                    ($int::MIN, $int::MIN),
                    ($int::MIN, $int::MAX),
                    (0, $int::MIN),
                    (0b0101_0101, 0b0011_0011),
                ];
                fn all(old: $int, new: $int) {
                    let (ours, std) = ($atomic::new(old), std::sync::atomic::$atomic::new(old));
                    same!(ours std old new: fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min swap);
                    ours.store(old, SeqCst);
                    assert_eq!(ours.compare_exchange(old, new, SeqCst, Relaxed), Ok(old));
                    assert_eq!(ours.load(SeqCst), new);
                    if old != new {
                        assert_eq!(ours.compare_exchange(old, new, SeqCst, Relaxed), Err(new));
                    }
                    assert_eq!(ours.fetch_update(SeqCst, Relaxed, |n| Some(n.wrapping_add(1))), Ok(new));
                    assert_eq!(ours.fetch_update(SeqCst, Relaxed, |_| None), Err(new.wrapping_add(1)));
                    assert_eq!(ours.into_inner(), new.wrapping_add(1));
                }
                let both = || CASES.iter().for_each(|&(old, new)| all(old, new));
                both();
                holds(both);
                // And between threads.
                holds(|| {
                    let n = Arc::new($atomic::new($int::MAX));
                    let m = n.clone();
                    let t = thread::spawn(move || m.fetch_add(1, Relaxed));
                    let mine = n.fetch_add(1, Relaxed);
                    let theirs = t.join().unwrap();
                    assert!([(mine, theirs), (theirs, mine)].contains(&($int::MAX, $int::MIN)));
                    assert_eq!(n.load(Relaxed), $int::MIN + 1);
                });
            }
        )*
    };
}

widths! {
    u8_wraps AtomicU8 u8;
    u16_wraps AtomicU16 u16;
    u32_wraps AtomicU32 u32;
    u64_wraps AtomicU64 u64;
    usize_wraps AtomicUsize usize;
    i8_wraps AtomicI8 i8;
    i16_wraps AtomicI16 i16;
    i32_wraps AtomicI32 i32;
    i64_wraps AtomicI64 i64;
    isize_wraps AtomicIsize isize;
}

#[test]
fn booleans_are_as_in_std() {
    let both = || {
        for (old, new) in [(false, false), (false, true), (true, false), (true, true)] {
            let (ours, std) = (AtomicBool::new(old), std::sync::atomic::AtomicBool::new(old));
            same!(ours std old new: fetch_and fetch_nand fetch_or fetch_xor swap);
            ours.store(old, Relaxed);
            assert_eq!(ours.fetch_not(Relaxed), old);
            assert_eq!(ours.load(Relaxed), !old);
            assert_eq!(ours.compare_exchange(old, new, AcqRel, Acquire), Err(!old));
            assert_eq!(ours.compare_exchange_weak(!old, new, AcqRel, Acquire), Ok(!old));
            assert_eq!(ours.into_inner(), new);
        }
    };
    both();
    holds(both);
}

#[test]
fn pointers_lead_to_what_was_published() {
    let (executions, _) = holds(|| {
        let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut::<usize>()));
        let theirs = slot.clone();
        let t = thread::spawn(move || theirs.store(Box::into_raw(Box::new(42)), Release));
        let seen = slot.load(Acquire);
        if !seen.is_null() {
            // SAFETY: published above.
            assert_eq!(unsafe { *seen }, 42);
        }
        t.join().unwrap();
        let last = slot.swap(std::ptr::null_mut(), AcqRel);
        // SAFETY: as above, and nobody else has it.
        assert_eq!(*unsafe { Box::from_raw(last) }, 42);
    });
    assert_eq!(executions, 2);
}

#[test]
fn pointers_are_exchanged() {
    holds(|| {
        let (a, b) = (&mut 1 as *mut i32, &mut 2 as *mut i32);
        let slot = AtomicPtr::new(a);
        assert_eq!(slot.compare_exchange(b, a, AcqRel, Acquire), Err(a));
        assert_eq!(slot.compare_exchange(a, b, AcqRel, Acquire), Ok(a));
        assert_eq!(slot.fetch_update(AcqRel, Acquire, |_| Some(a)), Ok(b));
        assert_eq!(slot.into_inner(), a);
    });
}

#[test]
fn fetch_update_loses_nothing() {
    holds(|| {
        let v = shared::<1>();
        let double = |[x]: &[AtomicUsize; 1]| x.fetch_update(AcqRel, Acquire, |n| Some(n * 2 + 1)).unwrap();
        let threads: Vec<_> = (0..3).map(|_| go(&v, double)).collect();
        let mut seen: Vec<usize> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 3]);
        assert_eq!(v[0].load(Relaxed), 7);
    });
}

#[test]
fn a_weak_exchange_fails_without_a_reason_only_if_asked_to() {
    let program = || {
        let x = AtomicUsize::new(0);
        match x.compare_exchange_weak(0, 1, AcqRel, Relaxed) {
            Ok(0) => 1u64,
            Err(0) => {
                assert_eq!(x.load(Relaxed), 0, "a failed exchange does not write");
                2
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(outcomes_in(&Check::new(), program).0, set(&[1]));
    assert_eq!(outcomes_in(&Check::new().spurious_failures(true), program).0, set(&[1, 2]));
    let strong = || x_strong();
    fn x_strong() -> u64 {
        AtomicUsize::new(0).compare_exchange(0, 1, AcqRel, Relaxed).is_ok().into()
    }
    assert_eq!(outcomes_in(&Check::new().spurious_failures(true), strong).0, set(&[1]));
}

#[test]
fn exclusive_access_sees_the_newest_value() {
    holds(|| {
        let v = shared::<1>();
        let t = go(&v, |[x]| x.fetch_add(1, Relaxed));
        v[0].fetch_add(1, Relaxed);
        t.join().unwrap();
        let mut v = Arc::try_unwrap(v).unwrap();
        assert_eq!(*v[0].get_mut(), 2);
        *v[0].get_mut() += 5;
        assert_eq!(v[0].load(Relaxed), 7);
        v[0].store(8, Relaxed);
        assert_eq!(*v[0].get_mut(), 8);
        let [x] = v;
        assert_eq!(x.into_inner(), 8);
    });
}

#[test]
fn a_value_set_through_get_mut_is_seen_by_others() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let mut x = AtomicUsize::new(1);
        x.store(2, Relaxed);
        *x.get_mut() = 3;
        let x = Arc::new(x);
        let y = x.clone();
        let t = thread::spawn(move || y.load(Relaxed));
        x.store(4, Relaxed);
        t.join().unwrap() as u64
    });
    assert_eq!(seen, set(&[3, 4]));
    assert_eq!(verdict.stats().executions, 2);
}

#[test]
fn orders_that_do_not_exist_panic_as_in_std() {
    for (name, program) in [
        ("release load", (|| assert_eq!(AtomicUsize::new(0).load(Release), 0)) as fn()),
        ("acquire store", || AtomicUsize::new(0).store(1, Acquire)),
        ("relaxed fence", || fence(Relaxed)),
    ] {
        let finding = violated(program);
        assert_eq!(finding.title, "panic");
        assert!(told(&finding).contains(name), "{}", told(&finding));
    }
}
