//! What has become known about a program as it ran.
//!
//! Some things cost events or time, and most programs do without. They are left out until an execution needs them. Knowledge only
//! grows. Each time it does, the search starts over: violations that were found are kept, and counting starts from zero.

use unpick_core::facts::Facts;
use unpick_core::op::ThreadId;
use unpick_core::schedule;

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// What costs events, as bits that the front-end gives a meaning; a schedule brings them along.
    facts: Facts,
    /// What threads were called in the exploration whose schedule is followed; empty: as now.
    names: Vec<u32>,
    /// Whether no execution comes to its end: then threads that others let go on now and then are stuck.
    impatient: bool,
    /// Whether more is known than when the search began.
    grown: bool,
}

impl Knowledge {
    /// What a schedule brings along.
    pub fn new(known: &schedule::Knowledge) -> Knowledge {
        Knowledge { facts: Facts::new(&known.facts), names: known.threads.clone(), ..Knowledge::default() }
    }

    /// All facts, in order.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The bits of a fact.
    #[inline(always)]
    pub fn get(&self, fact: usize) -> u64 {
        self.facts.get(fact)
    }

    /// Sets bits of a fact. Whether that is new, and the search is to start over.
    #[inline(always)]
    pub fn learn(&mut self, fact: usize, bits: u64) -> bool {
        let new = self.facts.learn(fact, bits);
        self.grown |= new;
        new
    }

    /// Something has become known that is kept elsewhere.
    pub fn grow(&mut self) {
        self.grown = true;
    }

    /// Whether a thread is stuck that others let go on now and then, in vain.
    pub fn is_impatient(&self) -> bool {
        self.impatient
    }

    /// No execution has come to its end. Whether that is new.
    pub(crate) fn lose_patience(&mut self) -> bool {
        !std::mem::replace(&mut self.impatient, true)
    }

    /// Whether the search is to start over, which it does now.
    pub fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// What a thread is called in the exploration, also where a schedule of it is followed.
    #[inline(always)]
    pub fn name_of(&self, thread: ThreadId) -> u32 {
        self.names.get(thread.index()).copied().unwrap_or(thread.0)
    }

    /// The thread with a name that [`Knowledge::name_of`] gave.
    pub fn named(&self, name: u32) -> ThreadId {
        ThreadId(self.names.iter().position(|&known| known == name).map_or(name, |thread| thread as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_starts_over_once_for_each_thing_that_is_new() {
        let mut knowledge = Knowledge::default();
        assert!(knowledge.learn(1, 6) && knowledge.has_grown() && !knowledge.has_grown());
        assert!(!knowledge.learn(1, 2) && !knowledge.has_grown());
        knowledge.grow();
        assert!(knowledge.has_grown() && !knowledge.has_grown());
        assert!(knowledge.lose_patience() && !knowledge.lose_patience() && knowledge.is_impatient());
    }

    #[test]
    fn threads_keep_the_names_of_the_exploration() {
        let known = schedule::Knowledge { facts: vec![5], threads: vec![0, 2, 1] };
        let knowledge = Knowledge::new(&known);
        assert_eq!(
            (knowledge.get(0), knowledge.name_of(ThreadId(1)), knowledge.name_of(ThreadId(7))),
            (5, 2, 7)
        );
        assert_eq!((knowledge.named(1), knowledge.named(7)), (ThreadId(2), ThreadId(7)));
    }
}
