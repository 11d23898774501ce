//! Shared pointers: cheap while nobody can tell, exact when somebody can.

use std::any::Any;
use std::collections::BTreeSet;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicUsize, fence};
use unpick::sync::{Arc, Mutex, Weak};
use unpick::{Check, coerce, thread};

use crate::support::*;

/// The outcomes of a program and the counts of its executions.
#[track_caller]
fn explored(program: impl Fn() -> u64 + Send + Sync + 'static) -> (BTreeSet<u64>, (u64, u64)) {
    let (outcomes, verdict) = outcomes_in(&Check::new(), program);
    (outcomes, counts(&verdict))
}

/// Tells, when dropped, that it is.
struct Bell(std::sync::Arc<AtomicUsize>, usize);

impl Drop for Bell {
    fn drop(&mut self) {
        self.0.store(self.1, Relaxed);
    }
}

#[test]
fn clones_and_drops_that_nobody_sees_cost_nothing() {
    let atomics = passes(|| {
        let shared = Arc::new(AtomicUsize::new(0));
        let clones: Vec<_> = (0..4).map(|_| Arc::clone(&shared)).collect();
        let threads = clones.into_iter().map(|mine| thread::spawn(move || mine.load(Relaxed)));
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 0));
    });
    assert_eq!(atomics, (1, 0));
    let read_only = passes(|| {
        let shared = Arc::new(vec![1, 2, 3]);
        for _ in 0..4 {
            let mine = Arc::clone(&shared);
            thread::spawn(move || assert_eq!(mine.clone().len(), 3));
        }
    });
    assert_eq!(read_only, (1, 0));
}

#[test]
fn who_is_the_only_one_left_may_look() {
    let counts = holds(|| {
        let shared = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let mine = Arc::clone(&shared);
                thread::spawn(move || drop(mine))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((Arc::strong_count(&shared), Arc::weak_count(&shared)), (1, 0));
        assert_eq!(Arc::try_unwrap(shared).unwrap().into_inner().unwrap(), 0);
    });
    assert_eq!(counts, (1, 0));
}

/// Three owners; each adds to a list that the destructor looks at.
#[test]
fn the_last_owner_drops_the_value_in_every_order() {
    let (outcomes, counts) = explored(|| {
        let last = std::sync::Arc::new(AtomicUsize::new(0));
        struct Last(std::sync::Arc<AtomicUsize>);
        impl Drop for Last {
            fn drop(&mut self) {
                self.0.fetch_add(1, Relaxed);
            }
        }
        let shared = Arc::new(Last(std::sync::Arc::clone(&last)));
        let (a, b) = (Arc::clone(&shared), Arc::clone(&shared));
        drop(shared);
        let work = |mine: Arc<Last>, last: std::sync::Arc<AtomicUsize>| {
            thread::spawn(move || {
                drop(mine);
                last.load(Relaxed) as u64
            })
        };
        let (a, b) = (work(a, std::sync::Arc::clone(&last)), work(b, last));
        a.join().unwrap() * 10 + b.join().unwrap()
    });
    // Who drops last surely sees the drop; the other one may.
    assert_eq!(outcomes, BTreeSet::from([1, 10, 11]));
    assert_eq!(counts, (4, 0));
}

#[test]
fn the_destructor_knows_of_all_uses() {
    let verdict = holds(|| {
        struct Checked(UnsafeCell<usize>);
        unsafe impl Sync for Checked {}
        impl Drop for Checked {
            fn drop(&mut self) {
                self.0.with_mut(|value| unsafe { *value += 1 });
            }
        }
        let shared = Arc::new(Checked(UnsafeCell::new(0)));
        for _ in 0..2 {
            let mine = Arc::clone(&shared);
            thread::spawn(move || mine.0.with(|value| assert_eq!(unsafe { *value }, 0)));
        }
    });
    assert_eq!(verdict, (6, 0));
}

/// What a shared pointer made by hand does, with the order of its decrement.
fn by_hand(order: std::sync::atomic::Ordering) {
    struct Shared {
        count: AtomicUsize,
        value: UnsafeCell<usize>,
    }
    unsafe impl Sync for Shared {}
    let shared = Arc::new(Shared { count: AtomicUsize::new(2), value: UnsafeCell::new(0) });
    for _ in 0..2 {
        let mine = Arc::clone(&shared);
        thread::spawn(move || {
            mine.value.with(|value| unsafe { *value });
            if mine.count.fetch_sub(1, order) == 1 {
                fence(Acquire);
                mine.value.with_mut(|value| unsafe { *value = 1 });
            }
        });
    }
}

#[test]
fn counting_by_hand_needs_release() {
    assert_eq!(violated(|| by_hand(Relaxed)).title, "data race");
    assert_eq!(holds(|| by_hand(Release)), (2, 0));
}

#[test]
fn a_weak_pointer_meets_the_last_drop_in_either_order() {
    let (outcomes, counts) = explored(|| {
        let shared = Arc::new(7u64);
        let weak = Arc::downgrade(&shared);
        let thread = thread::spawn(move || weak.upgrade().map_or(0, |value| *value));
        drop(shared);
        thread.join().unwrap()
    });
    assert_eq!(outcomes, BTreeSet::from([0, 7]));
    // Upgraded before the drop, and dropped again before it or after it; or too late.
    assert_eq!(counts, (3, 0));
}

#[test]
fn one_of_two_gets_the_value() {
    let (outcomes, counts) = explored(|| {
        let shared = Arc::new(1u64);
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || Arc::into_inner(theirs).unwrap_or(0));
        let mine = Arc::into_inner(shared).unwrap_or(0);
        mine * 10 + thread.join().unwrap()
    });
    assert_eq!(outcomes, BTreeSet::from([1, 10]));
    assert_eq!(counts, (2, 0));
}

#[test]
fn two_may_both_fail_to_unwrap() {
    let (outcomes, _) = explored(|| {
        let shared = Arc::new(1u64);
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || Arc::try_unwrap(theirs).unwrap_or(0));
        let mine = Arc::try_unwrap(shared).unwrap_or(0);
        mine * 10 + thread.join().unwrap()
    });
    assert_eq!(outcomes, BTreeSet::from([0, 1, 10]));
}

#[test]
fn the_value_can_be_changed_once_the_other_has_gone() {
    let (outcomes, counts) = explored(|| {
        let mut shared = Arc::new(UnsafeCell::new(0u64));
        let theirs = Arc::downgrade(&shared);
        let other = Arc::clone(&shared);
        drop(theirs);
        struct Sent(Arc<UnsafeCell<u64>>);
        unsafe impl Send for Sent {}
        let other = Sent(other);
        let thread = thread::spawn(move || {
            let other = other;
            other.0.with_mut(|value| unsafe { *value = 1 });
        });
        // A race unless what the other did happens before.
        let seen = Arc::get_mut(&mut shared).map_or(2, |cell| *cell.get_mut());
        thread.join().unwrap();
        seen
    });
    assert_eq!(outcomes, BTreeSet::from([1, 2]));
    assert_eq!(counts, (2, 0));
}

#[test]
fn get_mut_and_downgrade_keep_out_of_each_others_way() {
    let (outcomes, _) = explored(|| {
        let mut shared = Arc::new(1u64);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let weak = Arc::downgrade(&other);
            drop(other);
            weak
        });
        let unique = u64::from(Arc::get_mut(&mut shared).is_some());
        let weak = thread.join().unwrap();
        assert!(weak.upgrade().is_some());
        unique
    });
    // There is another pointer, strong or weak, at all times.
    assert_eq!(outcomes, BTreeSet::from([0]));
}

#[test]
fn counts_are_what_the_memory_model_allows() {
    let (outcomes, counts) = explored(|| {
        let shared = Arc::new(());
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || drop(theirs.clone()));
        let seen = Arc::strong_count(&shared) as u64;
        thread.join().unwrap();
        seen * 10 + Arc::strong_count(&shared) as u64
    });
    assert_eq!(outcomes, BTreeSet::from([11, 21, 31]));
    assert_eq!(counts, (4, 0));
}

#[test]
fn a_violation_that_needs_an_order_of_drops_replays() {
    let program = || {
        let state = std::sync::Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Bell(std::sync::Arc::clone(&state), 1));
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || drop(theirs));
        drop(shared);
        assert_eq!(state.load(Relaxed), 1, "the other one still had it");
        thread.join().unwrap();
    };
    let finding = violated(program);
    assert_eq!(finding.title, "panic");
    if is_child() {
        return;
    }
    let again = child(
        &test_name!(a_violation_that_needs_an_order_of_drops_replays),
        &[("UNPICK_REPLAY", &finding.token)],
    );
    assert!(again.status.success(), "{}", text_of(&again));
}

#[test]
fn a_destructor_that_panics_does_so_in_the_right_thread() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let (outcomes, _) = explored(|| {
        let shared = Arc::new(Bad);
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || drop(theirs));
        let mine = thread::spawn(move || drop(shared));
        u64::from(thread.join().is_err()) * 10 + u64::from(mine.join().is_err())
    });
    assert_eq!(outcomes, BTreeSet::from([1, 10]));
}

#[test]
fn pointers_turn_into_others_as_in_std() {
    let number: Arc<dyn Any + Send + Sync> = coerce!(Arc::new(5i32));
    let number = number.downcast::<String>().unwrap_err();
    assert_eq!(*number.downcast::<i32>().unwrap(), 5);

    let list: Arc<[String]> = Arc::from(vec![String::from("a"), String::from("b")]);
    let pair: Arc<[String; 2]> = list.clone().try_into().unwrap();
    assert_eq!(*list, *pair);
    assert_eq!((0..3).collect::<Arc<[i32]>>()[2], 2);
    let text: Arc<str> = Arc::from("text");
    assert_eq!(&*Arc::<[u8]>::from(text.clone()), b"text");
    assert_eq!(Arc::strong_count(&text), 1);
    assert!(Arc::<str>::default().is_empty() && Arc::<[i32]>::default().is_empty());
    let path: Arc<std::path::Path> = std::path::PathBuf::from("/tmp").into();
    assert_eq!(&*path, std::path::Path::new("/tmp"));
}

#[test]
fn raw_pointers_are_at_the_value() {
    #[repr(align(64))]
    struct Aligned(u8);
    let raw = Arc::into_raw(Arc::new(Aligned(3)));
    assert_eq!(raw.addr() % 64, 0);
    let arc = unsafe {
        Arc::increment_strong_count(raw);
        Arc::decrement_strong_count(raw);
        Arc::from_raw(raw)
    };
    assert_eq!((arc.0, Arc::strong_count(&arc)), (3, 1));
    let weak = Arc::downgrade(&arc).into_raw();
    let weak = unsafe { Weak::from_raw(weak) };
    assert_eq!(weak.upgrade().map(|arc| arc.0), Some(3));
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    let nothing = Weak::<u8>::new().into_raw();
    assert!(unsafe { Weak::from_raw(nothing) }.ptr_eq(&Weak::new()));
    let wide: Arc<dyn Fn() -> u8 + Send + Sync> = coerce!(Arc::new(move || arc.0));
    let wide = unsafe { Arc::from_raw(Arc::into_raw(wide)) };
    assert_eq!(wide(), 3);
}

#[test]
fn values_are_dropped_once_and_memory_after_weak_pointers() {
    let drops = std::sync::Arc::new(AtomicUsize::new(0));
    struct Counted(std::sync::Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let mut arc = Arc::new(Counted(drops.clone()));
    let weak = Arc::downgrade(&arc);
    assert!(Arc::get_mut(&mut arc).is_none());
    drop(arc.clone());
    drop(arc);
    assert_eq!((drops.load(Relaxed), weak.upgrade().is_none()), (1, true));
    let slice: Arc<[Counted]> = (0..3).map(|_| Counted(drops.clone())).collect();
    drop(Arc::<[Counted]>::from(Vec::new()));
    drop(slice);
    drop(Arc::<Counted>::from(Box::new(Counted(drops.clone()))));
    assert_eq!(drops.load(Relaxed), 5);
    let mut number = Arc::new(1);
    let weak = Arc::downgrade(&number);
    *Arc::make_mut(&mut number) += 1;
    assert_eq!((*number, weak.upgrade()), (2, None));
    assert_eq!(Arc::unwrap_or_clone(number), 2);
    let mut list: Arc<[String]> = Arc::from([String::from("a")]);
    let (other, weak) = (list.clone(), Arc::downgrade(&list));
    Arc::make_mut(&mut list)[0].push('b');
    assert_eq!((&*list[0], &*other[0]), ("ab", "a"));
    drop(list);
    let mut list = other;
    Arc::make_mut(&mut list)[0].push('c');
    assert_eq!((&*list[0], weak.upgrade()), ("ac", None));
    let mut text: Arc<str> = Arc::from("x");
    Arc::make_mut(&mut text).make_ascii_uppercase();
    assert_eq!(&*text, "X");
}

// ---------------------------------------------------------------- a specification

/// What a thread does with its pointer, a strong one or, if it upgrades, a weak one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Clones the strong pointer, and drops the clone in a step of its own.
    Clone,
    Upgrade,
    Count,
    IntoInner,
    TryUnwrap,
    Drop,
}

/// The pointers to a value: how many, and how far the threads are. Every step is one moment.
#[derive(Clone)]
struct State {
    strong: u64,
    /// Strong pointers that each thread has.
    own: Vec<u64>,
    next: Vec<usize>,
    results: Vec<Vec<u64>>,
}

fn specified(threads: &[&[Step]]) -> BTreeSet<u64> {
    let own: Vec<u64> = threads.iter().map(|steps| u64::from(!steps.contains(&Step::Upgrade))).collect();
    let (next, results) = (vec![0; threads.len()], vec![Vec::new(); threads.len()]);
    let mut outcomes = BTreeSet::new();
    explore(&State { strong: own.iter().sum(), own, next, results }, threads, &mut outcomes);
    outcomes
}

fn explore(state: &State, threads: &[&[Step]], outcomes: &mut BTreeSet<u64>) {
    let mut ended = true;
    for (thread, steps) in threads.iter().enumerate() {
        let mut after = state.clone();
        let own = state.own[thread];
        match steps.get(state.next[thread]) {
            // Clones go one at a time, and what is left at the end as well.
            _ if own > 1 => after.release(thread),
            None if own == 1 => after.release(thread),
            None => continue,
            Some(step) => {
                after.next[thread] += 1;
                let only = own == 1 && state.strong == 1;
                match step {
                    Step::Clone if own == 1 => after.acquire(thread),
                    Step::Clone => {}
                    Step::Upgrade => {
                        after.results[thread].push(u64::from(state.strong > 0));
                        if state.strong > 0 {
                            after.acquire(thread);
                        }
                    }
                    Step::Count => after.results[thread].push(state.strong),
                    Step::IntoInner | Step::TryUnwrap => {
                        after.results[thread].push(u64::from(only));
                        if own == 1 && (only || *step == Step::IntoInner) {
                            after.release(thread);
                        }
                    }
                    Step::Drop if own == 1 => after.release(thread),
                    Step::Drop => {}
                }
            }
        }
        ended = false;
        explore(&after, threads, outcomes);
    }
    if ended {
        outcomes.insert(state.results.iter().flatten().fold(0, |outcome, digit| outcome * 10 + digit));
    }
}

impl State {
    fn acquire(&mut self, thread: usize) {
        self.strong += 1;
        self.own[thread] += 1;
    }

    fn release(&mut self, thread: usize) {
        self.strong -= 1;
        self.own[thread] -= 1;
    }
}

fn work(mut own: Option<Arc<u8>>, weak: Weak<u8>, steps: &[Step]) -> Vec<u64> {
    let mut results = Vec::new();
    for step in steps {
        match step {
            Step::Clone => drop(own.clone()),
            Step::Upgrade => {
                own = weak.upgrade();
                results.push(u64::from(own.is_some()));
            }
            Step::Count => results.push(weak.strong_count() as u64),
            Step::IntoInner => results.push(u64::from(own.take().and_then(Arc::into_inner).is_some())),
            Step::TryUnwrap => {
                let tried = own.take().map(Arc::try_unwrap);
                results.push(u64::from(matches!(tried, Some(Ok(_)))));
                own = tried.and_then(Result::err);
            }
            Step::Drop => own = None,
        }
    }
    results
}

/// Compares a program with its specification; the executions that were complete and blocked.
#[track_caller]
fn compare(threads: &'static [&'static [Step]]) -> (u64, u64) {
    let (seen, counts) = explored(move || {
        let shared = Arc::new(0u8);
        let pointers: Vec<_> = threads
            .iter()
            .map(|steps| (!steps.contains(&Step::Upgrade)).then(|| Arc::clone(&shared)))
            .collect();
        let weak = Arc::downgrade(&shared);
        drop(shared);
        let threads = threads.iter().zip(pointers).map(|(&steps, own)| {
            let weak = weak.clone();
            thread::spawn(move || work(own, weak, steps))
        });
        let threads: Vec<_> = threads.collect();
        let results: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        results.iter().fold(0, |outcome, digit| outcome * 10 + digit)
    });
    assert_eq!(seen, specified(threads), "{threads:?}: {counts:?}");
    counts
}

#[test]
fn pointers_do_what_the_specification_allows() {
    use Step::*;
    assert_eq!(compare(&[&[IntoInner], &[IntoInner]]), (2, 0));
    assert_eq!(compare(&[&[Drop], &[Upgrade]]), (3, 0));
    // Three drops, and a look before one of them at as many counts as there are drops until then.
    assert_eq!(compare(&[&[Drop], &[Drop], &[Count]]), (12, 0));
    compare(&[&[TryUnwrap], &[TryUnwrap]]);
    compare(&[&[Clone, Drop], &[Upgrade, Count]]);
    compare(&[&[Count, Drop], &[Upgrade], &[Upgrade]]);
    compare(&[&[IntoInner], &[Upgrade, IntoInner], &[Count]]);
    compare(&[&[TryUnwrap, Drop], &[Clone, Count], &[Count]]);
}
