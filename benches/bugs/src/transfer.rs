//! Two transfers between two accounts, which lock them in two orders.
//!
//! Models the textbook deadlock with two locks (E. Coffman, M. Elphick and A. Shoshani, "System
//! deadlocks", 1971).
//!
//! Bug: a transfer locks where the money comes from first. Fix: the account with the lower number first.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::Mutex;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The transfers.
pub(crate) const BUG: Bug = Bug {
    name: "transfer",
    after: "Coffman, Elphick and Shoshani 1971",
    bug: "two locks are taken in two orders",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "deadlock",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

fn program(variant: Variant) {
    let accounts = [Mutex::new(100), Mutex::new(100)];
    let transfer = |from: usize, to: usize, amount: i32| {
        let swapped = variant.is_fixed() && to < from;
        let order = if swapped { [to, from] } else { [from, to] };
        let mut guards = order.map(|account| accounts[account].lock().unwrap());
        let [source, target] = if swapped { [1, 0] } else { [0, 1] };
        *guards[source] -= amount;
        *guards[target] += amount;
    };
    thread::scope(|scope| {
        scope.spawn(|| transfer(1, 0, 30));
        transfer(0, 1, 20);
    });
    assert_eq!(accounts.map(|account| account.into_inner().unwrap()), [110, 90]);
}
