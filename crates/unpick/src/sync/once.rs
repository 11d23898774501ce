//! `Once`, as in [`std::sync`], and what `OnceLock` and `LazyLock` have in common with it.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};

use unpick_core::op::{Addr, Mode, Op, Rmw, Site, Value};
use unpick_runtime::Tag;
use unpick_runtime::facts::{self, Uses};
use unpick_runtime::ops::{self, Object};

use crate::here;

/// Nobody has begun. While somebody is at it, the location is a lock that is taken.
pub(super) const NEW: Value = 0;
/// It is done.
pub(super) const DONE: Value = 2;
/// Whoever did it panicked.
pub(super) const POISONED: Value = 3;

/// Something that is done once, without what it leaves.
pub(super) struct Parts {
    tag: Tag,
    /// Counts uses, where their order matters.
    uses: Tag,
    outside: std::sync::Once,
    kind: &'static str,
}

/// The state as those know it who have the object for themselves, or are at it; and, where the state
/// is among contents that are saved, how large these are.
pub(super) struct Memory<'a> {
    /// The state.
    pub(super) state: &'a Cell<Value>,
    /// Where the contents begin, and their size.
    pub(super) contents: (*mut u8, usize),
    /// What the type of what it leaves tells about its uses.
    pub(super) uses: fn() -> Uses,
}

/// Says how it went, when dropped.
struct Leave<'a> {
    parts: &'a Parts,
    memory: &'a Memory<'a>,
    result: Value,
    site: Site,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.memory.state.set(self.result);
        if ops::in_check() {
            self.parts.op(self.memory, Op::leave(Addr::NONE, self.result, self.site));
        }
    }
}

impl Parts {
    /// Nothing has happened to an object of this type.
    pub(super) const fn new(kind: &'static str) -> Parts {
        Parts { tag: Tag::new(), uses: Tag::new(), outside: std::sync::Once::new(), kind }
    }

    /// It has been done from the beginning.
    pub(super) fn done(kind: &'static str) -> Parts {
        let parts = Parts::new(kind);
        parts.outside.call_once(|| ());
        parts
    }

    /// Runs `f` unless it is done; `false` when it is poisoned, unless that does not matter. `f` is
    /// told whether it is.
    #[track_caller]
    pub(super) fn run(&self, memory: &Memory<'_>, force: bool, f: impl FnOnce(bool)) -> bool {
        let site = here!();
        if !ops::in_check() {
            self.tag.assert_outside();
            return self.run_outside(memory, force, f);
        }
        let also = if force { POISONED } else { NEW };
        let old = self.op(memory, Op::enter(Addr::NONE, also, site));
        if old == POISONED && !force {
            return false;
        }
        if old != DONE {
            let mut leave = Leave { parts: self, memory, result: POISONED, site };
            f(old == POISONED);
            leave.result = DONE;
        }
        self.count_use(memory, site);
        true
    }

    /// Says that what it leaves is about to be used.
    fn count_use(&self, memory: &Memory<'_>, site: Site) {
        if facts::use_is_ordered((memory.uses)()) {
            let op = Op::rmw(Addr::NONE, Rmw::Add, Mode::Relaxed, 1, site);
            ops::on_object(Object::new(&self.uses, self.kind), 0, op);
        }
    }

    /// As [`Parts::run`], but panics when it is poisoned.
    #[track_caller]
    fn run_outside(&self, memory: &Memory<'_>, force: bool, f: impl FnOnce(bool)) -> bool {
        let run = |poisoned| {
            let mut leave = Leave { parts: self, memory, result: POISONED, site: Site(0) };
            f(poisoned);
            leave.result = DONE;
        };
        if force {
            self.outside.call_once_force(|state| run(state.is_poisoned()));
        } else {
            self.outside.call_once(|| run(false));
        }
        true
    }

    /// Whether it is done, as far as the caller can know. What was done happens before, then.
    #[track_caller]
    pub(super) fn is_done(&self, memory: &Memory<'_>) -> bool {
        if ops::in_check() {
            let site = here!();
            let done = self.op(memory, Op::load(Addr::NONE, Mode::Acquire, site)) == DONE;
            if done {
                self.count_use(memory, site);
            }
            return done;
        }
        self.outside.is_completed()
    }

    /// Waits until it is done; `false` when it is poisoned, unless that does not matter.
    #[track_caller]
    pub(super) fn wait(&self, memory: &Memory<'_>, force: bool) -> bool {
        let site = here!();
        if !ops::in_check() {
            self.tag.assert_outside();
            if force {
                self.outside.wait_force()
            } else {
                self.outside.wait()
            }
            return true;
        }
        loop {
            let from = ops::position();
            match self.op(memory, Op::load(Addr::NONE, Mode::Acquire, site)) {
                DONE => break,
                POISONED if !force => return false,
                _ => ops::wait_for_change(from, site),
            }
        }
        self.count_use(memory, site);
        true
    }

    /// Starts a new life in the state that memory says, for who has the object for itself.
    pub(super) fn renew(&mut self, state: Value) {
        self.tag.reset();
        self.uses.reset();
        self.outside = std::sync::Once::new();
        match state {
            DONE => self.outside.call_once(|| ()),
            POISONED => {
                let panics = || self.outside.call_once(|| resume_unwind(Box::new(())));
                // The panic is there to leave its mark.
                let _ = catch_unwind(panics);
            }
            _ => {}
        }
    }

    fn op(&self, memory: &Memory<'_>, op: Op) -> Value {
        let object = Object { tag: &self.tag, kind: self.kind, contents: memory.contents };
        // Another check may be at a static: the state is not what it is at the beginning, then.
        unpick_runtime::claim(memory.contents);
        ops::on_object(object, memory.state.get(), op)
    }
}

/// Something that is done once, as [`std::sync::Once`].
///
/// Inside a check any of the threads that come first may be the one that does it; the others wait.
/// That it is done synchronises with all that find it so.
///
/// ```
/// use unpick::sync::Once;
/// use unpick::thread;
///
/// static START: Once = Once::new();
///
/// unpick::check(|| {
///     let other = thread::spawn(|| START.call_once(|| unpick::label("started")));
///     START.call_once(|| unpick::label("started"));
///     assert!(START.is_completed());
///     other.join().unwrap();
/// });
/// ```
pub struct Once {
    parts: Parts,
    state: Cell<Value>,
}

// SAFETY: the state in memory is changed by who is at it, and nobody else is then.
unsafe impl Sync for Once {}
impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

/// A [`Once`] of which nothing has been done.
#[deprecated(since = "1.38.0", note = "the `Once::new()` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it still")]
pub const ONCE_INIT: Once = Once::new();

/// What a closure is told by [`Once::call_once_force`], as [`std::sync::OnceState`].
pub struct OnceState {
    poisoned: bool,
    /// As `std`'s, it is not shared with other threads.
    unshared: PhantomData<Cell<()>>,
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.poisoned).finish()
    }
}

impl OnceState {
    /// Whether an earlier closure panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    /// Nothing has been done.
    #[expect(clippy::new_without_default, reason = "std's has no default")]
    pub const fn new() -> Once {
        Once { parts: Parts::new("Once"), state: Cell::new(NEW) }
    }

    /// Does it, unless it is done; waits if somebody is at it.
    ///
    /// # Panics
    ///
    /// When an earlier closure panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let fine = self.parts.run(&self.memory(), false, |_| f());
        assert!(fine, "Once instance has previously been poisoned");
    }

    /// As [`call_once`](Once::call_once), but tries again if an earlier closure panicked.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        self.parts.run(&self.memory(), true, |poisoned| {
            f(&OnceState { poisoned, unshared: PhantomData });
        });
    }

    /// Whether it is done, as far as the caller can know.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.parts.is_done(&self.memory())
    }

    /// Waits until somebody has done it.
    ///
    /// # Panics
    ///
    /// When a closure panicked.
    #[track_caller]
    pub fn wait(&self) {
        let fine = self.parts.wait(&self.memory(), false);
        assert!(fine, "Once instance has previously been poisoned");
    }

    /// Waits until somebody has done it, also if others have tried and panicked.
    #[track_caller]
    pub fn wait_force(&self) {
        self.parts.wait(&self.memory(), true);
    }

    fn memory(&self) -> Memory<'_> {
        let contents = (self.state.as_ptr().cast(), size_of::<Cell<Value>>());
        Memory { state: &self.state, contents, uses: Uses::of::<()> }
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
