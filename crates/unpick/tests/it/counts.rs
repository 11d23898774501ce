//! What the counts of `Arc` of the standard library order, which nobody sees: with the names of functions in the program, and without.

use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock, Weak};

use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use unpick::sync::atomic::{AtomicPtr, AtomicUsize};
use unpick::{Check, thread};

use crate::support::*;

type Counter = Box<AtomicUsize>;

fn counter() -> Counter {
    Box::new(AtomicUsize::new(0))
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Relaxed);
}

/// Three threads share a value; whoever is last drops it.
fn shared<T: Send + Sync + ?Sized + 'static>(
    value: fn() -> Arc<T>,
    work: fn(&T),
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = value();
        for _ in 0..2 {
            let theirs = Arc::clone(&shared);
            thread::spawn(move || work(&theirs));
        }
        work(&shared);
    }
}

trait Work {
    fn work(&self);
}

impl Work for Counter {
    fn work(&self) {
        count(self);
    }
}

struct Node {
    counter: Counter,
    next: Option<Arc<Node>>,
}

impl Node {
    fn new(next: Option<Arc<Node>>) -> Arc<Node> {
        Arc::new(Node { counter: counter(), next })
    }
}

struct Cell(Box<UnsafeCell<usize>>);

// SAFETY: nobody writes to it.
unsafe impl Sync for Cell {}

#[test]
fn what_several_own_is_freed_after_all_uses() {
    assert_eq!(holds(shared(|| Arc::new(AtomicUsize::new(0)), count)), (6, 0));
    assert_eq!(holds(shared(|| Arc::new(counter()), |counter| count(counter))), (6, 0));
    assert_eq!(
        holds(shared(|| Arc::new(vec![counter(), counter()]), |counters| count(&counters[1]))),
        (6, 0)
    );
    assert_eq!(
        holds(shared(|| Arc::new(Mutex::new(Box::new(0))), |number| **number.lock().unwrap() += 1)),
        (6, 0)
    );
    assert_eq!(
        holds(shared(|| Arc::new(Box::new(Mutex::new(0))), |number| *number.lock().unwrap() += 1)),
        (6, 0)
    );
    assert_eq!(
        holds(shared(|| Arc::new(Arc::new(counter())), |counter| count(&Arc::clone(counter)))),
        (6, 0)
    );
    assert_eq!(
        holds(shared(|| -> Arc<dyn Work + Send + Sync> { Arc::new(counter()) }, |counter| counter.work())),
        (6, 0)
    );
    assert_eq!(
        holds(shared(|| -> Arc<[Counter]> { Arc::from([counter(), counter()]) }, |all| count(&all[1]))),
        (6, 0)
    );
    assert_eq!(
        holds(shared(
            || Arc::new(Cell(Box::default())),
            |cell| cell.0.with(|value| assert_eq!(unsafe { *value }, 0))
        )),
        (1, 0)
    );
    let both = |node: &Node| {
        count(&node.counter);
        node.next.iter().for_each(|next| count(&next.counter));
    };
    assert_eq!(holds(shared(|| Node::new(Some(Node::new(None))), both)), (36, 0));
}

/// A count that is lowered and raised between two operations looks as if nothing had happened.
#[test]
fn handles_that_come_and_go_order_what_is_freed() {
    holds(|| {
        let shared = Arc::new(counter());
        let theirs = Arc::clone(&shared);
        thread::spawn(move || (0..2).for_each(|_| count(&Arc::clone(&theirs))));
        count(&shared);
    });
}

/// Of two lists that share their end the second is dropped by a thread that has never met the users of the first.
#[test]
fn an_order_goes_from_count_to_count() {
    holds(|| {
        let last = Node::new(None);
        let (first, second) = (Node::new(Some(Arc::clone(&last))), Node::new(Some(last)));
        let theirs = Arc::clone(&first);
        thread::spawn(move || count(&theirs.next.as_ref().unwrap().counter));
        thread::spawn(move || drop(first));
        thread::spawn(move || count(&second.next.as_ref().unwrap().counter));
    });
}

#[test]
fn a_weak_handle_orders_as_well() {
    holds(|| {
        let shared = Arc::new((counter(), AtomicUsize::new(0)));
        let weak: Weak<_> = Arc::downgrade(&shared);
        let theirs = Arc::clone(&shared);
        thread::spawn(move || count(&theirs.1));
        thread::spawn(move || {
            count(&shared.0);
            drop(shared);
            drop(weak);
        });
    });
}

#[test]
fn what_the_last_owner_takes_out_was_used_before() {
    holds(|| {
        let shared = Arc::new(counter());
        let theirs = Arc::clone(&shared);
        let work = |shared: Arc<Counter>| {
            count(&shared);
            drop(Arc::into_inner(shared));
        };
        thread::spawn(move || work(theirs));
        work(shared);
    });
    holds(|| {
        let shared = Arc::new(counter());
        let theirs = Arc::clone(&shared);
        thread::spawn(move || count(&theirs));
        count(&shared);
        drop(Arc::try_unwrap(shared));
    });
}

/// Nobody can say what `Arc::get_mut` has seen.
#[test]
fn what_hangs_on_a_last_handle_is_an_error() {
    let error = Check::new().run(|| {
        let mut shared = Arc::new(vec![counter()]);
        let theirs = Arc::clone(&shared);
        thread::spawn(move || count(&theirs[0]));
        count(&shared[0]);
        if let Some(counters) = Arc::get_mut(&mut shared) {
            counters.clear();
        }
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`Arc::get_mut`") && error.contains("Use `unpick::sync::Arc`"), "{error}");
}

/// What was taken out of an atomic does not hang on it any more, although its memory has the address.
#[test]
fn what_was_taken_from_an_atomic_hangs_on_no_handle() {
    let finding = violated(|| {
        let shared = Arc::new((AtomicPtr::new(Box::into_raw(counter())), AtomicUsize::new(0)));
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            count(unsafe { &*theirs.0.load(Acquire) });
            theirs.1.store(1, Relaxed);
        });
        unpick::assume(shared.1.load(Relaxed) == 1);
        drop(unsafe { Box::from_raw(shared.0.swap(std::ptr::null_mut(), AcqRel)) });
    });
    assert_eq!(finding.title, "use after free");
}

/// Counts of a block that is not looked at are told by the names of functions, if there are any.
#[test]
fn counts_elsewhere_need_names() {
    let result = Check::new().run(|| {
        let make = || Arc::new(OnceLock::new());
        let shared: Arc<OnceLock<Counter>> = unpick::outside(make);
        shared.set(counter()).unwrap();
        let theirs = Arc::clone(&shared);
        thread::spawn(move || count(theirs.get().unwrap()));
        count(shared.get().unwrap());
    });
    match result {
        Ok(verdict) => assert!(verdict.holds() && !is_child(), "{verdict}"),
        Err(error) => {
            assert!(is_child() && error.to_string().contains("build it without `strip`"), "{error}")
        }
    }
}

/// Frees a counter when it is dropped.
struct Owner(*mut AtomicUsize);

// SAFETY: what the tests are about.
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Owner {
    fn new() -> (Owner, Owner) {
        let raw = std::hint::black_box(Box::into_raw(counter()));
        (Owner(raw), Owner(raw))
    }

    /// Uses the counter, and leaves it.
    fn lend(self) {
        count(unsafe { &*self.0 });
        std::mem::forget(self);
    }
}

/// A use comes before a free in the executions that are explored, and the free is inside of the destructor of an `Arc`, but the user has never
/// had a handle.
#[test]
fn the_counts_of_others_order_nothing() {
    let finding = violated(|| {
        let (owner, user) = Owner::new();
        thread::spawn(move || {
            let owner = Arc::new(owner);
            let theirs = Arc::clone(&owner);
            thread::spawn(move || drop(theirs));
        });
        user.lend();
    });
    assert_eq!(finding.title, "use after free");
    // Of two users one has a handle.
    let finding = violated(|| {
        let (owner, user) = Owner::new();
        let owner = Arc::new(owner);
        let theirs = Arc::clone(&owner);
        thread::spawn(move || count(unsafe { &*theirs.0 }));
        thread::spawn(move || drop(owner));
        user.lend();
    });
    assert_eq!(finding.title, "use after free");
}

/// Two words that look like counts order nothing if one thread alone has changed them.
#[test]
fn two_zeros_are_no_handles() {
    #[repr(C)]
    struct Block {
        words: [usize; 2],
        counter: AtomicUsize,
    }
    struct Address(*mut Block);
    // SAFETY: what the test is about.
    unsafe impl Send for Address {}
    let finding = violated(|| {
        let raw = Box::into_raw(Box::new(Block { words: [1, 1], counter: AtomicUsize::new(0) }));
        let address = Address(std::hint::black_box(raw));
        thread::spawn(move || {
            let Address(raw) = { address };
            unsafe { (*raw).words = std::hint::black_box([0, 0]) };
            drop(unsafe { Box::from_raw(raw) });
        });
        count(unsafe { &(*raw).counter });
    });
    assert_eq!(finding.title, "use after free");
}

/// The tests above once more, in a program that has no names of functions, as after `-C strip=symbols`.
#[test]
fn counts_are_known_without_the_names_of_functions() {
    if is_child() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let stripped = program.with_file_name(format!("stripped-{}", std::process::id()));
    let done = Command::new("strip").arg("-o").args([&stripped, &program]).status();
    // Who has no such tool has no linker that would have stripped the program.
    if !done.is_ok_and(|status| status.success()) {
        return;
    }
    let module = test_name!(counts_are_known_without_the_names_of_functions);
    let module = module.split_once("counts_are").unwrap().0;
    let mut command = Command::new(&stripped);
    command.args([module, "--test-threads=1"]).env("CHECKED_IT_CHILD", "1").stdin(Stdio::null());
    let output = command.output().unwrap();
    std::fs::remove_file(&stripped).unwrap();
    assert!(output.status.success(), "{}", text_of(&output));
    assert!(text_of(&output).contains("test result: ok. 11 passed"), "{}", text_of(&output));
}
