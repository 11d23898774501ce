//! holds
//!
//! The method does by itself what the other would do.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

/// Accounts, each of which is looked up under the lock of all.
struct Bank(RwLock<Vec<u32>>);

impl Bank {
    fn sum(&self) -> u32 {
        self.0.read().unwrap().iter().sum()
    }

    fn pay(&self, account: usize, amount: u32) {
        self.0.write().unwrap()[account] += amount;
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let bank = Arc::new(Bank(RwLock::new(vec![1, 2])));
        let theirs = Arc::clone(&bank);
        let payer = thread::spawn(move || theirs.pay(1, 3));
        assert!([3, 6].contains(&bank.sum()));
        payer.join().unwrap();
    }
}
