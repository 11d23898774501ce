//! holds
//!
//! Workers catch the panics of their jobs and keep them; the main thread goes on with each, and catches it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use unpick::sync::{Arc, Mutex};
use unpick::thread;

type Failures = Arc<Mutex<Vec<Box<dyn Any + Send>>>>;

fn job(failures: &Failures, what: &'static str) {
    let Err(payload) = catch_unwind(|| panic!("{what}"));
    failures.lock().unwrap().push(payload);
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let failures = Failures::default();
        let workers = ["first", "second"].map(|what| {
            let failures = failures.clone();
            thread::spawn(move || job(&failures, what))
        });
        for worker in workers {
            worker.join().unwrap();
        }
        let kept = std::mem::take(&mut *failures.lock().unwrap());
        assert_eq!(kept.len(), 2);
        for payload in kept {
            assert!(catch_unwind(AssertUnwindSafe(|| resume_unwind(payload))).is_err());
        }
    }
}
