//! Handles to threads: `Thread`, `ThreadId`, `current`.

use std::cell::Cell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use unpick_core::op::{Addr, Op, ThreadId as Number};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

/// What is kept for a thread under test, in what its parent made for it; the main thread makes its
/// own.
pub(super) struct Local {
    name: Option<String>,
    /// What the thread is called in the exploration.
    pub(super) number: Cell<u32>,
    /// Where `unpark` leaves its token.
    pub(super) token: Tag,
    /// Where a condition or a barrier tells the thread to go on.
    pub(super) signal: Tag,
    /// Whether the thread has woken up without a reason.
    pub(super) woke: Cell<bool>,
    /// The mutex with which the thread waits for a condition.
    pub(super) mutex: Cell<usize>,
    /// What this is a part of, counted by an `Rc`.
    owner: Cell<Option<*const dyn Owner>>,
}

/// Something that what is kept for a thread is a part of.
pub(super) trait Owner {
    /// What is kept for the thread.
    fn local(&self) -> &Local;
}

impl Owner for Local {
    fn local(&self) -> &Local {
        self
    }
}

impl Local {
    /// What is kept for a thread that is not running yet.
    #[inline(always)]
    pub(super) fn new(name: Option<String>) -> Local {
        Local {
            name,
            number: Cell::new(0),
            token: Tag::new(),
            signal: Tag::new(),
            woke: Cell::new(false),
            mutex: Cell::new(0),
            owner: Cell::new(None),
        }
    }

    /// Says what this is a part of. That is counted by an `Rc`, which the thread holds until it ends,
    /// and does nothing with what it borrows when it is dropped.
    #[inline(always)]
    pub(super) fn set_owner<'a>(&self, owner: *const (dyn Owner + 'a)) {
        // SAFETY: only the lifetime changes, and whoever uses the pointer looks at this part alone.
        let owner = unsafe { std::mem::transmute::<*const (dyn Owner + 'a), *const dyn Owner>(owner) };
        self.owner.set(Some(owner));
    }

    /// What is kept for a thread of this run, which has not ended.
    pub(super) fn of<'a>(thread: Number) -> &'a Local {
        let data = ops::data(thread).cast::<Local>();
        if data.is_null() {
            assert_eq!(thread, ops::thread(), "only the main thread comes without data, and makes it itself");
            let local = unpick_runtime::untracked(|| Rc::new(Local::new(Some(String::from("main")))));
            let owner: *const Local = Rc::as_ptr(&local);
            local.set_owner(owner);
            ops::set_data(thread, Rc::into_raw(Rc::clone(&local)).cast());
            return Local::of(thread);
        }
        // SAFETY: the thread holds what this is a part of until it ends.
        unsafe { &*data }
    }

    /// A handle to the thread.
    pub(super) fn thread(&self) -> Thread {
        let owner = self.owner.get().expect("what is kept for a thread has an owner before the thread runs");
        // SAFETY: the owner is counted by an `Rc`, and somebody who reaches this part holds one.
        unsafe {
            Rc::increment_strong_count(owner);
            Thread(Inner::Checked(Rc::from_raw(owner)))
        }
    }
}

#[derive(Clone)]
enum Inner {
    Checked(Rc<dyn Owner>),
    Outside(std::thread::Thread),
}

/// A thread, as [`std::thread::Thread`].
///
/// [`unpark`](Thread::unpark) synchronises with the [`park`](super::park) that it ends.
///
/// ```
/// use unpick::thread;
///
/// unpick::check(|| {
///     let builder = thread::Builder::new().name(String::from("worker"));
///     let worker = builder.spawn(|| thread::park()).unwrap();
///     assert_eq!(worker.thread().name(), Some("worker"));
///     worker.thread().unpark();
///     worker.join().unwrap();
/// });
/// ```
#[derive(Clone)]
pub struct Thread(Inner);

// SAFETY: inside a check all threads run on one OS thread, and nothing of a check outlives it;
// `std`'s handle can be sent and shared.
unsafe impl Send for Thread {}
// SAFETY: as above.
unsafe impl Sync for Thread {}
impl UnwindSafe for Thread {}
impl RefUnwindSafe for Thread {}

impl Thread {
    /// A thread that no check controls.
    pub(super) fn outside(thread: &std::thread::Thread) -> Thread {
        Thread(Inner::Outside(thread.clone()))
    }

    /// Gives the thread a token, with which its next [`park`](super::park) returns. There is one
    /// token: more than one call without a `park` in between gives no more.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Inner::Checked(owner) => {
                let local = owner.local();
                ops::on_object(Object::new(&local.token, "token"), 1, Op::post(Addr::NONE, here!()));
            }
            Inner::Outside(thread) => thread.unpark(),
        }
    }

    /// The thread's identity.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Inner::Checked(owner) => Identity::Checked(owner.local().number.get()),
            Inner::Outside(thread) => Identity::Outside(thread.id()),
        })
    }

    /// The name that a [`Builder`](super::Builder) gave it; that of the main thread is `main`.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Inner::Checked(owner) => owner.local().name.as_deref(),
            Inner::Outside(thread) => thread.name(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    Checked(u32),
    Outside(std::thread::ThreadId),
}

/// What tells a thread from all others, as [`std::thread::ThreadId`].
///
/// Inside a check a thread has the same identity in every execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Identity);

impl ThreadId {
    /// What the thread is called inside a check, where the main thread is 0.
    #[doc(hidden)]
    pub fn number(&self) -> Option<u32> {
        match self.0 {
            Identity::Checked(number) => Some(number),
            Identity::Outside(_) => None,
        }
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Identity::Checked(number) => write!(f, "ThreadId({})", number + 1),
            Identity::Outside(id) => id.fmt(f),
        }
    }
}

/// The calling thread.
///
/// ```
/// use unpick::thread;
///
/// unpick::check(|| {
///     let main = thread::current();
///     assert_eq!(main.name(), Some("main"));
///     let other = thread::spawn(move || {
///         assert_ne!(thread::current().id(), main.id());
///         main.unpark();
///     });
///     thread::park();
///     other.join().unwrap();
/// });
/// ```
pub fn current() -> Thread {
    if ops::in_check() {
        Local::of(ops::thread()).thread()
    } else {
        Thread(Inner::Outside(std::thread::current()))
    }
}
