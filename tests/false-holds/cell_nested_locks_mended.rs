//! holds
//!
//! As it should be: only one thread changes the number beside the locks.

use unpick::cell::UnsafeCell;
use unpick::sync::{Arc, Mutex, RwLock};
use unpick::thread;

struct Locks {
    mutex: Mutex<u8>,
    lock: RwLock<u16>,
    turns: u32,
}

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl Shared<Locks> {
    fn locks(&self) -> &Locks {
        // SAFETY: nobody has a mutable reference to all of it.
        unsafe { &*self.0.get() }
    }

    fn work(&self) -> u16 {
        *self.locks().mutex.lock().unwrap() += 1;
        *self.locks().lock.read().unwrap()
    }

    fn turn(&self) {
        // SAFETY: the caller is the only one to do so, or should be.
        unsafe { (&raw mut (*self.0.get()).turns).write(1 + u32::from(self.work())) };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let locks = Locks { mutex: Mutex::new(0), lock: RwLock::new(0), turns: 0 };
        let locks = Arc::new(Shared(UnsafeCell::new(locks)));
        let theirs = locks.clone();
        let other = thread::spawn(move || {
            theirs.work();
            *theirs.locks().lock.write().unwrap() += 1
        });
        locks.turn();
        other.join().unwrap();
    }
}
