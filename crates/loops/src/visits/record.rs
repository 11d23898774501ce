//! What is remembered of arrivals and places.

use unpick_core::op::Site;

use super::CANDIDATES;
use crate::frame::Frame;

/// Trials without success at a place double the number of rounds before the next one, so often.
const PATIENCE: u32 = 6;

/// A place where the state is another one each time, so often in a row, is looked at as seldom as one where all trials come to nothing.
const UNLIKE: u32 = 1024;

/// An arrival since the thread last did something that others act on.
#[derive(Clone, Debug, Default)]
pub(super) struct Visit {
    pub(super) site: Site,
    pub(super) at: u32,
    pub(super) frame: Frame,
    /// What else belonged to the state; not asked for where no known round may follow.
    pub(super) hidden: Option<u64>,
    /// The known rounds that may follow.
    pub(super) rounds: Vec<u32>,
    /// The last arrival at which the thread was in the same state, by its number.
    pub(super) same: Option<usize>,
}

/// The arrivals of a thread, in order. What they hold is used again in the next run.
#[derive(Debug, Default)]
pub(super) struct Visits {
    pub(super) all: Vec<Visit>,
    pub(super) len: usize,
    /// No earlier one has rounds that may follow.
    pub(super) open: usize,
}

impl Visits {
    pub(super) fn clear(&mut self) {
        (self.len, self.open) = (0, 0);
    }

    /// A new one, without rounds.
    pub(super) fn add(&mut self) -> &mut Visit {
        if self.len == self.all.len() {
            self.all.push(Visit::default());
        }
        self.len += 1;
        let visit = &mut self.all[self.len - 1];
        visit.rounds.clear();
        visit
    }

    /// Those that may have rounds that follow.
    pub(super) fn open(&mut self) -> &mut [Visit] {
        &mut self.all[self.open..self.len]
    }
}

impl std::ops::Deref for Visits {
    type Target = [Visit];

    fn deref(&self) -> &[Visit] {
        &self.all[..self.len]
    }
}

/// What is known of the trials at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) site: Site,
    /// Trials that came to nothing.
    pub(super) failures: u32,
    /// How often in a row threads came here in another state than before, several times each.
    pub(super) unlike: u32,
    /// Whether a round was found to be idle.
    pub(super) succeeded: bool,
    /// For each thread, how often it has come here in this run, and before which event it was here last.
    pub(super) arrivals: Vec<(u32, u32)>,
    /// Whether there were rounds that were not tried.
    pub(super) put_off: bool,
    /// Whether rounds were followed when it was looked ahead.
    pub(super) followed: bool,
}

impl Record {
    /// That of a place, which is made if there is none.
    pub(super) fn of(records: &mut Vec<Record>, site: Site) -> &mut Record {
        let place = records.iter().position(|record| record.site == site).unwrap_or_else(|| {
            let new = Record { site, ..Record::default() };
            records.push(new);
            records.len() - 1
        });
        &mut records[place]
    }

    /// Whether trials come to nothing here, so that most arrivals are not looked at.
    pub(super) fn fails(&self) -> bool {
        !self.succeeded && self.period() as usize > CANDIDATES
    }

    /// Every how many arrivals a trial is due.
    pub(super) fn period(&self) -> u32 {
        1 << if self.unlike >= UNLIKE { PATIENCE } else { self.failures.min(PATIENCE) }
    }
}
