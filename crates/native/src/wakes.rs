//! How threads wait for each other: sets of waiting threads, and the signals that wake them.
//!
//! A location holds the set of threads that wait, a bit each. Who wakes takes threads out of it, and sends each a
//! signal; if there is nobody, it has only read. A wait that ends by itself takes its own thread out, unless somebody
//! else has: then the signal is on its way.

use unpick_core::op::{Addr, Mode, Op, Rmw, Value};
use unpick_core::violation::Wait;

use crate::facts::Fact;
use crate::ops::Caller;
use crate::places::{Key, MadeUp};

/// How a wait may end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Not at all.
    Woken,
    /// When its time is over, which may be at any moment.
    Time,
}

impl Caller {
    /// The bit of the calling thread in sets of those who wait.
    pub(crate) fn bit(&self) -> Value {
        let number = self.number_of(self.thread.index());
        if number >= u64::BITS {
            self.refuse(String::from("more than 64 threads, of which a late one waits; use fewer threads"));
        }
        1 << number
    }

    /// Adds the calling thread to a set; returns those who were in it.
    pub(crate) fn join_set(&self, set: Key, mode: Mode) -> Value {
        let bit = self.bit();
        let others = self.take(set, Op::rmw(Addr::NONE, Rmw::Or, mode, bit, self.site)) & !bit;
        let count = others.count_ones() + 1;
        if count > 1 {
            self.learn(Fact::Waiters, (1 << count) - 1);
        }
        others
    }

    /// Takes the calling thread out of a set, unless it was taken out already.
    pub(crate) fn leave_set(&self, set: Key) -> bool {
        let bit = self.bit();
        self.take(set, Op::rmw(Addr::NONE, Rmw::GiveUp, Mode::Relaxed, !bit, self.site)) & bit != 0
    }

    /// Waits, as a member of a set, until woken; says whether it was woken by another.
    pub(crate) fn wait_in_set(&self, set: Key, until: Until, mode: Mode) -> bool {
        let s = self.session();
        if until == Until::Time && !s.limits.patient {
            let woken = !self.leave_set(set);
            if woken {
                self.await_signal(mode);
            }
            return woken;
        }
        s.search.waits = true;
        if s.limits.spurious_wakeups && self.choose(2) == 1 {
            if !self.leave_set(set) {
                // It was woken, which is the other choice.
                self.stop(Wait::Assume);
            }
            return false;
        }
        self.await_signal(mode);
        true
    }

    /// Waits for the signal of the calling thread.
    pub(crate) fn await_signal(&self, mode: Mode) {
        let key = Key::made_up(MadeUp::Wake(self.thread.index()));
        self.take(key, Op { mode, ..Op::wait(Addr::NONE, false, self.site) });
    }

    /// Sends the signal of the thread with this bit.
    fn send_signal(&self, bit: u32, mode: Mode) {
        let known = (0..self.session().threads.len()).find(|&thread| self.number_of(thread) == bit);
        let Some(thread) = known else { return };
        let key = Key::made_up(MadeUp::Wake(thread));
        self.take(key, Op { mode, failure: mode, ..Op::post(Addr::NONE, self.site) });
    }

    /// Wakes one thread of a set, any; says whether there was one.
    pub(crate) fn wake_one(&self, set: Key, mode: Mode) -> bool {
        let most = self.fact(Fact::Waiters).count_ones();
        let nth = if most > 1 { self.choose(most.into()) } else { 0 };
        let old = self.take(set, Op::rmw(Addr::NONE, Rmw::TakeBit, mode, nth, self.site));
        match (0..u64::BITS).filter(|bit| old >> bit & 1 != 0).nth(nth as usize) {
            Some(bit) => {
                self.send_signal(bit, mode);
                true
            }
            // The other choices cover all threads that there are.
            None if nth > 0 => self.stop(Wait::Assume),
            None => false,
        }
    }

    /// Wakes all threads of a set; returns how many.
    pub(crate) fn wake_all(&self, set: Key, mode: Mode) -> u32 {
        let old = self.take(set, Op::rmw(Addr::NONE, Rmw::TakeAll, mode, 0, self.site));
        self.send_signals(old, mode);
        old.count_ones()
    }

    /// Sends the signals of the threads with these bits.
    pub(crate) fn send_signals(&self, bits: Value, mode: Mode) {
        (0..u64::BITS).filter(|bit| bits >> bit & 1 != 0).for_each(|bit| self.send_signal(bit, mode));
    }
}
