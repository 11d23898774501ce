//! Models on the system's heap, since their closures have captured pointers.

use std::hint::black_box;
use std::sync::Mutex;

use crate::loom::model;
use crate::loom::thread;

/// A freed block is not given out again in the same execution: whether pointers are equal depends on what the threads do,
/// and not on which of them is run first.
#[test]
fn no_address_is_used_twice_in_an_execution() {
    let all: &'static _ = Box::leak(Box::new(Mutex::new(Vec::new())));
    let take = |number: usize| {
        let block = black_box(Box::new(number));
        all.lock().unwrap().push(&raw const *block as usize);
    };
    model(move || {
        all.lock().unwrap().clear();
        let other = thread::spawn(move || (0..10).for_each(take));
        (0..10).for_each(take);
        other.join().unwrap();
        let mut addresses = std::mem::take(&mut *all.lock().unwrap());
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), 20);
    });
}

/// What is freed is freed when the execution ends, also if another one has taken it.
#[test]
fn memory_is_given_back() {
    const SIZE: usize = 1 << 20;
    let kept: &'static _ = Box::leak(Box::new(Mutex::new(Vec::new())));
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let before = resident();
    for _ in 0..400 {
        model(move || {
            drop(black_box(vec![1_u8; SIZE]));
            *kept.lock().unwrap() = vec![2; SIZE];
        });
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 200 * SIZE, "{grown}");
}
