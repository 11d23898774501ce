//! unpick's types have the methods and the traits of `std`'s: the same code is compiled twice, against
//! either. What is missing, or has another type, does not compile. `docs/std.md` has the list.

#![allow(
    clippy::type_complexity,
    clippy::extra_unused_lifetimes,
    reason = "signatures are written out as std documents them"
)]

use std::fmt::Debug;
use std::hash::Hash;

use unpick::sync::Mutex;
use unpick::sync::atomic::Ordering::Relaxed;
use unpick::sync::atomic::{AtomicPtr, AtomicU8};
use unpick::{Check, thread};

use crate::support::{holds, outcomes_in, passes};

/// What values have that stand for all others.
pub(crate) trait Value: Copy + Debug + Default + Ord + Hash + Send + Sync + 'static {}

impl Value for u8 {}

/// The type has the trait.
macro_rules! implements {
    ($type:ty: $($bound:tt)+) => {{
        fn check<T: ?Sized + $($bound)+>() {}
        check::<$type>();
    }};
}

/// The type does not have the trait: there would be two implementations to choose from.
macro_rules! refuses {
    ($type:ty: $bound:path) => {{
        trait Unless<Case> {
            fn check() {}
        }
        struct Case;
        impl<T: ?Sized> Unless<()> for T {}
        impl<T: ?Sized + $bound> Unless<Case> for T {}
        <$type as Unless<_>>::check();
    }};
}

macro_rules! twice {
    ($($name:ident: $file:literal;)*) => {
        mod of_std {
            $(pub(super) mod $name {
                use std as subject;
                include!($file);
            })*
        }

        mod of_unpick {
            $(pub(super) mod $name {
                use unpick as subject;
                include!($file);
            })*
        }

        #[test]
        fn everything_is_there() {
            $(
                of_std::$name::all();
                of_unpick::$name::all();
            )*
        }
    };
}

twice! {
    sync: "surface/programs/sync.rs";
    atomic: "surface/programs/atomic.rs";
    mpsc: "surface/programs/mpsc.rs";
    thread: "surface/programs/thread.rs";
    cell: "surface/programs/cell.rs";
    auto: "surface/programs/auto.rs";
}

mod behaviour_of_std {
    use std as subject;
    include!("surface/programs/behaviour.rs");
}

mod behaviour_of_unpick {
    use unpick as subject;
    include!("surface/programs/behaviour.rs");
}

#[track_caller]
fn compare(std: &[String], unpick: &[String]) {
    for (std, unpick) in std.iter().zip(unpick) {
        assert_eq!(std, unpick);
    }
    assert_eq!(std.len(), unpick.len());
}

#[test]
fn outside_a_check_the_types_do_what_those_of_std_do() {
    compare(&behaviour_of_std::seen(), &behaviour_of_unpick::seen());
}

#[test]
fn inside_a_check_the_types_do_what_those_of_std_do() {
    let std = behaviour_of_std::seen();
    passes(move || compare(&std, &behaviour_of_unpick::seen()));
}

/// Each thread moves the pointer once, so each gets a place of its own.
#[test]
fn pointers_are_moved_by_several_threads() {
    let (executions, blocked) = holds(|| {
        let mut places = [0_u32; 2];
        let start = places.as_mut_ptr();
        let next = AtomicPtr::new(start);
        let claim = || unsafe { next.fetch_ptr_add(1, Relaxed).write(1) };
        thread::scope(|scope| {
            scope.spawn(claim);
            claim();
        });
        assert_eq!(next.load(Relaxed), start.wrapping_add(2));
        assert_eq!(places, [1, 1]);
    });
    assert_eq!((executions, blocked), (2, 0));
}

/// Lost updates are tried again.
#[test]
fn updates_add_up() {
    holds(|| {
        let count = AtomicU8::new(0);
        thread::scope(|scope| {
            scope.spawn(|| count.update(Relaxed, Relaxed, |old| old + 1));
            count.try_update(Relaxed, Relaxed, |old| old.checked_add(2)).unwrap();
        });
        assert_eq!(count.into_inner(), 3);
    });
}

/// Whoever shows a lock tries to take it.
#[test]
fn a_lock_that_is_shown_is_free_or_not() {
    let (seen, _) = outcomes_in(&Check::new(), || {
        let lock = Mutex::new(1);
        thread::scope(|scope| {
            scope.spawn(|| *lock.lock().unwrap() = 2);
            let shown = format!("{lock:?}");
            u64::from(shown.contains("data: 2")) + 2 * u64::from(shown.contains("<locked>"))
        })
    });
    assert_eq!(seen, [0, 1, 2].into_iter().collect());
}

/// Whoever asks without the lock may come before the panic or after it.
#[test]
fn poison_is_seen_without_the_lock() {
    let (seen, _) = outcomes_in(&Check::new(), || {
        let lock = Mutex::new(1);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _guard = lock.lock();
                panic!("on purpose");
            });
            let before = lock.is_poisoned();
            other.join().unwrap_err();
            assert!(lock.is_poisoned());
            u64::from(before)
        })
    });
    assert_eq!(seen, [0, 1].into_iter().collect());
}

/// A table in `docs/std.md`, row by row.
struct Row<'a> {
    types: Vec<&'a str>,
    methods: Vec<&'a str>,
    traits: Vec<&'a str>,
    missing: usize,
    /// How many are covered, of how many.
    counts: (usize, usize),
}

impl Row<'_> {
    fn parse(line: &str) -> Option<Row<'_>> {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [types, methods, traits, missing, counts] = cells[..] else { return None };
        let counts = numbers(counts)?;
        let missing = missing.matches(')').count() - missing.matches("()").count();
        Some(Row { types: codes(types), methods: codes(methods), traits: codes(traits), missing, counts })
    }
}

/// What stands between backticks.
fn codes(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The numbers of "1 of 2".
fn numbers(text: &str) -> Option<(usize, usize)> {
    let (covered, all) = text.split_once(" of ")?;
    Some((covered.parse().ok()?, all.parse().ok()?))
}

/// The words of a text, and those of macros with their dollar.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$')
}

#[test]
fn the_list_in_the_docs_is_what_is_tested() {
    let docs = include_str!("../../../../docs/std.md");
    let code = [
        include_str!("surface/programs/sync.rs"),
        include_str!("surface/programs/atomic.rs"),
        include_str!("surface/programs/mpsc.rs"),
        include_str!("surface/programs/thread.rs"),
        include_str!("surface/programs/cell.rs"),
    ];
    let code = code.concat();
    let statements: Vec<&str> = code.split(";\n").collect();
    let mut sum = (0, 0);
    for line in docs.lines() {
        let Some(row) = Row::parse(line) else { continue };
        let types = row.types.len();
        let items = row.methods.len() + row.traits.len();
        let covered = if types == 0 { items } else { types * (1 + items) };
        assert_eq!(row.counts, (covered, covered + types * row.missing), "{line}");
        sum = (sum.0 + row.counts.0, sum.1 + row.counts.1);
        let Some(first) = row.types.first() else {
            let is_used = |item: &&&str| words(&code).any(|word| word == item.trim_end_matches('!'));
            assert_eq!(row.methods.iter().filter(is_used).count(), row.methods.len(), "{line}");
            continue;
        };
        let name = if types == 1 { words(first).next().unwrap_or_default() } else { "$name" };
        for method in row.methods {
            let end = format!("::{method}");
            let is_used = |text: &&str| text.ends_with(&end) && words(text).any(|word| word == name);
            assert!(statements.iter().any(is_used), "`{name}::{method}` is not used");
        }
        let asks = |text: &&&str| {
            let asked = text.trim_start().split_once("!(").and_then(|(_, rest)| rest.split_once(": "));
            let is_asked = text.contains("implements!(") || text.contains("refuses!(");
            is_asked && asked.is_some_and(|(of, _)| words(of).any(|word| word == name))
        };
        assert_eq!(statements.iter().filter(asks).count(), row.traits.len(), "{line}");
    }
    let share = sum.0 as f64 * 100.0 / sum.1 as f64;
    let said = format!("**Covered: {} of {} items, {share:.1} %.**", sum.0, sum.1);
    assert!(docs.contains(&said), "{said}");
    assert!(share > 95.0, "{said}");
}
