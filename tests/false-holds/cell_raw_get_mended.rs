//! holds
//!
//! As it should be: one of them has joined the other.

use std::ptr;

use unpick::cell::UnsafeCell;
use unpick::thread;

struct Node {
    key: u32,
    value: UnsafeCell<u32>,
}

#[derive(Clone, Copy)]
struct Link(*mut Node);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl Send for Link {}

fn bump(link: Link) {
    // SAFETY: the node is there; the rest is what this is about.
    unsafe { *UnsafeCell::raw_get(ptr::addr_of!((*link.0).value)) += (*link.0).key };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let link = Link(Box::into_raw(Box::new(Node { key: 3, value: UnsafeCell::new(1) })));
        let other = thread::spawn(move || {
            let link = link;
            bump(link);
        });
        other.join().unwrap();
        bump(link);
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { *Box::from_raw(link.0).value.get_mut() }, 7);
    }
}
