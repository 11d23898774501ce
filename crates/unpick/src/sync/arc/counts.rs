//! The counts of a shared value, and what they are to the engine.
//!
//! Most programs never look at the counts, and what they share does nothing visible when it is
//! dropped. For them the counts are plain memory: all threads under test run on one OS thread, and
//! nothing depends on who is last. Each type of value gets more only when an execution needs it:
//!
//! - if dropping the value does something visible, each drop of a pointer is an event, so that the
//!   last one is so in every possible order ([`Fact::DropsAreVisible`]);
//! - if somebody looks at the strong count, or asks for the value by a weak pointer, whatever changes
//!   the count is an event ([`Fact::CountsAreWatched`]); the same for the weak count
//!   ([`Fact::WeakCountsAreWatched`]).
//!
//! A thread that is the only one left may look at plain counts. Memory orders are those of `std`.

use std::process::abort;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use unpick_core::op::{Addr, Mode, Op, Rmw, Site, TAKEN, Value};
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::{Tag, shared};

/// The strong count, and the weak count: of all weak pointers, and one for all strong ones.
#[derive(Debug)]
pub(super) struct Counts {
    strong: AtomicUsize,
    weak: AtomicUsize,
    strong_tag: Tag,
    weak_tag: Tag,
    /// The bit of the value's type, if a thread under test made the value.
    bit: Option<fn() -> u64>,
    /// Where the value was made: what a report says about drops.
    site: Site,
}

/// Most pointers that there can be.
const MOST: usize = isize::MAX as usize;
/// What one weak pointer counts in the engine, where 1 stands for a locked count.
const WEAK: Value = 2;

impl Counts {
    /// One weak pointer to a value that is not there yet, and `strong` pointers to it.
    pub(super) fn new<T: ?Sized>(strong: usize, site: Site) -> Counts {
        let checked = ops::in_check() && !ops::is_outside();
        Counts {
            strong: AtomicUsize::new(strong),
            weak: AtomicUsize::new(1),
            strong_tag: Tag::new(),
            weak_tag: Tag::new(),
            bit: checked.then_some(facts::bit_of::<T> as fn() -> u64),
            site,
        }
    }

    /// Where the value was made.
    pub(super) fn site(&self) -> Site {
        self.site
    }

    /// Sets the strong count of a value that nobody else can use yet.
    pub(super) fn start(&self) {
        if self.is(Fact::CountsAreWatched) {
            self.on_strong(Op::rmw(Addr::NONE, Rmw::Add, Mode::Release, 1, self.site));
        } else {
            self.strong.store(1, Ordering::Release);
        }
    }

    /// Counts a new strong pointer.
    pub(super) fn increment(&self, site: Site) {
        if self.is(Fact::CountsAreWatched) {
            self.on_strong(Op::rmw(Addr::NONE, Rmw::Add, Mode::Relaxed, 1, site));
        } else if self.strong.fetch_add(1, Ordering::Relaxed) > MOST {
            abort();
        }
    }

    /// Takes a strong pointer off, and says whether it was the last.
    pub(super) fn decrement(&self, site: Site) -> bool {
        let watched = self.is(Fact::CountsAreWatched);
        let visible = watched || self.is(Fact::DropsAreVisible);
        let last = if watched {
            self.on_strong(Op::rmw(Addr::NONE, Rmw::Sub, Mode::Release, 1, site)) == 1
        } else {
            if visible {
                // Their order is that of the plain count, which has the value: this one counts drops.
                let op = Op::rmw(Addr::NONE, Rmw::Add, Mode::Release, 1, site);
                ops::on_object(Object::new(&self.strong_tag, "Arc"), 0, op);
            }
            self.strong.fetch_sub(1, Ordering::Release) == 1
        };
        if last {
            acquire(visible, site);
        }
        last
    }

    /// Runs `f`, which drops the value.
    pub(super) fn drop_value(&self, f: impl FnOnce()) {
        let quiet = match self.bit {
            Some(bit) if ops::in_check() => {
                let visible = self.is(Fact::DropsAreVisible) || self.is(Fact::CountsAreWatched);
                (!visible).then(bit)
            }
            _ => None,
        };
        match quiet {
            Some(bit) => shared::quietly(Fact::DropsAreVisible, bit, f),
            None => f(),
        }
    }

    /// Counts a new strong pointer unless there is none left, and says whether.
    pub(super) fn increment_if_any(&self, site: Site) -> bool {
        if self.watch(Fact::CountsAreWatched) {
            let modes = (Mode::Acquire, Mode::Relaxed);
            return self.on_strong(Op::add_if(Addr::NONE, modes, Value::MAX, 1, site)) != 0;
        }
        let more = |count: usize| match count {
            0 => None,
            count if count > MOST => abort(),
            count => Some(count + 1),
        };
        self.strong.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
    }

    /// Takes the strong pointer off if it is the only one, and says whether it was. `success` is the
    /// order of that.
    pub(super) fn take_only(&self, success: Ordering, site: Site) -> bool {
        if self.watch(Fact::CountsAreWatched) {
            let mode = if success == Ordering::Acquire { Mode::Acquire } else { Mode::Relaxed };
            let op = Op::cas(Addr::NONE, (mode, Mode::Relaxed), 1, 0, false, site);
            let taken = self.on_strong(op) == 1;
            if taken && mode == Mode::Relaxed {
                ops::fence(Mode::Acquire, site);
            }
            return taken;
        }
        let taken = self.strong.compare_exchange(1, 0, success, Ordering::Relaxed).is_ok();
        if taken && success == Ordering::Relaxed {
            fence(Ordering::Acquire);
        }
        taken
    }

    /// As [`Counts::decrement`], for callers that tell whether it was the last.
    pub(super) fn decrement_watched(&self, site: Site) -> bool {
        self.watch(Fact::CountsAreWatched);
        self.decrement(site)
    }

    /// Gives back what [`Counts::take_only`] took.
    pub(super) fn give_back(&self, site: Site) {
        if self.is(Fact::CountsAreWatched) {
            self.on_strong(Op::store(Addr::NONE, Mode::Release, 1, site));
        } else {
            self.strong.store(1, Ordering::Release);
        }
    }

    /// The number of strong pointers.
    pub(super) fn strong(&self, site: Site) -> usize {
        if self.watch(Fact::CountsAreWatched) {
            return self.on_strong(Op::load(Addr::NONE, Mode::Relaxed, site)) as usize;
        }
        self.strong.load(Ordering::Relaxed)
    }

    /// Whether there is one strong pointer and no weak one.
    pub(super) fn is_unique(&self, site: Site) -> bool {
        // The weak count is locked meanwhile, so that no weak pointer is made of another strong one.
        if self.watch(Fact::WeakCountsAreWatched) {
            let modes = (Mode::Acquire, Mode::Relaxed);
            if self.on_weak(Op::cas(Addr::NONE, modes, WEAK, TAKEN, false, site)) != WEAK {
                return false;
            }
            let unique = self.strong_acquired(site) == 1;
            self.on_weak(Op::leave(Addr::NONE, WEAK, site));
            return unique;
        }
        let locked = self.weak.compare_exchange(1, usize::MAX, Ordering::Acquire, Ordering::Relaxed);
        if locked.is_err() {
            return false;
        }
        let unique = self.strong_acquired(site) == 1;
        self.weak.store(1, Ordering::Release);
        unique
    }

    fn strong_acquired(&self, site: Site) -> usize {
        if self.watch(Fact::CountsAreWatched) {
            return self.on_strong(Op::load(Addr::NONE, Mode::Acquire, site)) as usize;
        }
        self.strong.load(Ordering::Acquire)
    }

    /// Counts a new weak pointer, made of a strong one.
    pub(super) fn downgrade(&self, site: Site) {
        if self.is(Fact::WeakCountsAreWatched) {
            self.on_weak(Op::add_unlocked(Addr::NONE, Mode::Acquire, WEAK, site));
            return;
        }
        let mut count = self.weak.load(Ordering::Relaxed);
        loop {
            if count == usize::MAX {
                std::hint::spin_loop();
                count = self.weak.load(Ordering::Relaxed);
                continue;
            }
            if count > MOST {
                abort();
            }
            match self.weak.compare_exchange_weak(count, count + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return,
                Err(newer) => count = newer,
            }
        }
    }

    /// Counts a new weak pointer, made of a weak one.
    pub(super) fn increment_weak(&self, site: Site) {
        if self.is(Fact::WeakCountsAreWatched) {
            self.on_weak(Op::rmw(Addr::NONE, Rmw::Add, Mode::Relaxed, WEAK, site));
        } else if self.weak.fetch_add(1, Ordering::Relaxed) > MOST {
            abort();
        }
    }

    /// Takes a weak pointer off, and says whether the memory can be freed.
    pub(super) fn decrement_weak(&self, site: Site) -> bool {
        let watched = self.is(Fact::WeakCountsAreWatched);
        let last = if watched {
            self.on_weak(Op::rmw(Addr::NONE, Rmw::Sub, Mode::Release, WEAK, site)) == WEAK
        } else {
            self.weak.fetch_sub(1, Ordering::Release) == 1
        };
        if last {
            acquire(watched, site);
        }
        last
    }

    /// The number of weak pointers, with the one for all strong ones; 1 if the count is locked.
    /// `order` is `Relaxed` or `Acquire`.
    pub(super) fn weak(&self, order: Ordering, site: Site) -> usize {
        if self.watch(Fact::WeakCountsAreWatched) {
            let mode = if order == Ordering::Acquire { Mode::Acquire } else { Mode::Relaxed };
            let count = self.on_weak(Op::load(Addr::NONE, mode, site));
            return (count / WEAK).max(1) as usize;
        }
        match self.weak.load(order) {
            usize::MAX => 1,
            count => count,
        }
    }

    /// Whether the fact is known of this type, inside a check.
    fn is(&self, fact: Fact) -> bool {
        let Some(bit) = self.bit.filter(|_| ops::in_check()) else { return false };
        let known = facts::fact(fact);
        known != 0 && known & bit() != 0
    }

    /// Whether the engine is to be asked by somebody who looks at the counts. If the counts are plain
    /// and others may change them, the fact is learnt.
    fn watch(&self, fact: Fact) -> bool {
        let Some(bit) = self.bit.filter(|_| ops::in_check()) else { return false };
        if !self.is(fact) && shared::is_alone() {
            return false;
        }
        facts::learn(fact, bit());
        true
    }

    fn on_strong(&self, op: Op) -> Value {
        let init = self.strong.load(Ordering::Relaxed) as Value;
        ops::on_object(Object::new(&self.strong_tag, "Arc"), init, op)
    }

    fn on_weak(&self, op: Op) -> Value {
        let init = self.weak.load(Ordering::Relaxed) as Value * WEAK;
        ops::on_object(Object::new(&self.weak_tag, "Weak"), init, op)
    }
}

/// What the last one does before it goes on.
fn acquire(visible: bool, site: Site) {
    if visible {
        ops::fence(Mode::Acquire, site);
    } else {
        fence(Ordering::Acquire);
    }
}
