//! Whether a thread panicked while it held a lock.

use std::sync::atomic::{AtomicBool, Ordering};

use unpick_core::op::{Addr, Mode, Op, Site};
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::{Tag, panics};

/// The mark that a panic leaves. Those who hold the lock find it in memory; those who ask without
/// holding it ask the engine, since nothing orders them.
pub(super) struct Poison {
    tag: Tag,
}

impl Poison {
    /// No mark.
    pub(super) const fn new() -> Poison {
        Poison { tag: Tag::new() }
    }

    /// Marks the lock if its holder, who was not panicking when it took the lock, panics now.
    pub(super) fn mark(&self, flag: &AtomicBool, was_panicking: bool, site: Site) {
        if was_panicking || !panics::panicking() {
            return;
        }
        if ops::in_check() {
            self.op(flag, Op::store(Addr::NONE, Mode::Relaxed, 1, site));
        }
        flag.store(true, Ordering::Relaxed);
    }

    /// Whether there is a mark, for a holder.
    pub(super) fn is_marked(&self, flag: &AtomicBool, site: Site) -> bool {
        if ops::in_check() && facts::fact(Fact::PoisonIsCleared) != 0 {
            return self.op(flag, Op::load(Addr::NONE, Mode::Relaxed, site)) != 0;
        }
        flag.load(Ordering::Relaxed)
    }

    /// Whether there is a mark, for anybody.
    pub(super) fn look(&self, flag: &AtomicBool, site: Site) -> bool {
        if ops::in_check() {
            return self.op(flag, Op::load(Addr::NONE, Mode::Relaxed, site)) != 0;
        }
        flag.load(Ordering::Relaxed)
    }

    /// Takes the mark away.
    pub(super) fn clear(&self, flag: &AtomicBool, site: Site) {
        if ops::in_check() {
            facts::learn(Fact::PoisonIsCleared, 1);
            self.op(flag, Op::store(Addr::NONE, Mode::Relaxed, 0, site));
        }
        flag.store(false, Ordering::Relaxed);
    }

    fn op(&self, flag: &AtomicBool, op: Op) -> u64 {
        let contents = (flag.as_ptr().cast::<u8>(), size_of::<AtomicBool>());
        let object = Object { contents, ..Object::new(&self.tag, "poison") };
        // Another check may have left its mark on a static, for as long as its execution lasts.
        unpick_runtime::claim(contents);
        ops::on_object(object, flag.load(Ordering::Relaxed).into(), op)
    }
}
