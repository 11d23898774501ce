//! An object that is made on first use, with double-checked locking.
//!
//! The pointer is looked at once without the lock. If it is written and read with `Relaxed`, a
//! thread may get the pointer and not what it points to: the object is not published to it.
//!
//! `cargo run -p unpick --example lazy_init` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;
use std::ptr;
use unpick::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use unpick::{Check, thread};

/// The object that is costly to make.
struct Table {
    uses: AtomicUsize,
}

struct Lazy {
    table: AtomicPtr<Table>,
    lock: Mutex<()>,
    /// The memory orders with which the pointer is read outside the lock, and written.
    orders: (Ordering, Ordering),
}

impl Lazy {
    fn new(orders: (Ordering, Ordering)) -> Lazy {
        Lazy { table: AtomicPtr::new(ptr::null_mut()), lock: Mutex::new(()), orders }
    }

    fn get(&self) -> &Table {
        let (read, write) = self.orders;
        let mut table = self.table.load(read);
        if table.is_null() {
            let _guard = self.lock.lock().unwrap();
            table = self.table.load(Ordering::Relaxed);
            if table.is_null() {
                table = Box::into_raw(Box::new(Table { uses: AtomicUsize::new(0) }));
                self.table.store(table, write);
            }
        }
        // SAFETY: the pointer came from a box, which lives as long as `self`.
        unsafe { &*table }
    }
}

impl Drop for Lazy {
    fn drop(&mut self) {
        let table = *self.table.get_mut();
        if !table.is_null() {
            // SAFETY: the pointer came from a box, and nobody can use it any more.
            drop(unsafe { Box::from_raw(table) });
        }
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    let relaxed = (Ordering::Relaxed, Ordering::Relaxed);
    let orders = if fixed { (Ordering::Acquire, Ordering::Release) } else { relaxed };
    show::show(&Check::new().run(move || {
        let lazy = Arc::new(Lazy::new(orders));
        let theirs = Arc::clone(&lazy);
        let other = thread::spawn(move || {
            theirs.get().uses.fetch_add(1, Ordering::Relaxed);
        });
        lazy.get().uses.fetch_add(1, Ordering::Relaxed);
        other.join().unwrap();
        assert_eq!(lazy.get().uses.load(Ordering::Relaxed), 2);
    }))
}
