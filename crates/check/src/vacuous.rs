//! Checks that can show nothing: no execution breaks a property, since none could.

use std::fmt;

use unpick_core::op::Site;
use unpick_core::purpose::Purpose;
use unpick_core::stats::Stats;

/// Why a check can show nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vacuous {
    /// The program has started a thread that is not one of those under test, at this place.
    UnseenThread(String),
    /// The program has discarded every execution, first at this place.
    Discarded(String),
    /// There were several threads, and no object that two of them used.
    NothingShared,
    /// The program has one thread. That is no mistake, and only said.
    OneThread,
}

impl Vacuous {
    /// What is vacuous about a search that has come to its end without a violation; `told` puts a place into words.
    pub(crate) fn of(purpose: &Purpose, stats: &Stats, told: impl Fn(Site) -> String) -> Option<Vacuous> {
        if let Some(place) = &purpose.unseen_thread {
            return Some(Vacuous::UnseenThread(place.clone()));
        }
        let ended = stats.complete + stats.violated + stats.cut + stats.beyond;
        match purpose.discarded {
            Some(site) if ended == 0 && stats.blocked > 0 => Some(Vacuous::Discarded(told(site))),
            _ if ended == 0 => None,
            _ if !purpose.has_threads => Some(Vacuous::OneThread),
            _ => (!purpose.shares).then_some(Vacuous::NothingShared),
        }
    }

    /// Whether it is a mistake, as far as anybody can tell.
    pub fn is_mistake(&self) -> bool {
        *self != Vacuous::OneThread
    }
}

impl fmt::Display for Vacuous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Vacuous::UnseenThread(place) => {
                write!(f, "what a thread of the operating system does was not seen (started at {place})")
            }
            Vacuous::Discarded(place) => {
                write!(f, "every execution was discarded by a condition that is assumed (first at {place})")
            }
            Vacuous::NothingShared => f.write_str("no object was used by two threads"),
            Vacuous::OneThread => f.write_str("the program has one thread"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(purpose: &Purpose, complete: u64, blocked: u64) -> Option<Vacuous> {
        let stats = Stats { complete, blocked, ..Stats::default() };
        Vacuous::of(purpose, &stats, |site| format!("line {}", site.0))
    }

    #[test]
    fn what_is_worse_is_said() {
        let mut purpose = Purpose::default();
        assert_eq!(of(&purpose, 1, 0), Some(Vacuous::OneThread));
        purpose.has_threads = true;
        assert_eq!(of(&purpose, 1, 0), Some(Vacuous::NothingShared));
        purpose.shares = true;
        assert_eq!(of(&purpose, 1, 0), None);
        purpose.discarded = Some(Site(7));
        assert_eq!(of(&purpose, 1, 5), None, "some executions came to their end");
        assert_eq!(of(&purpose, 0, 5), Some(Vacuous::Discarded(String::from("line 7"))));
        purpose.unseen_thread = Some(String::from("here"));
        assert_eq!(of(&purpose, 1, 0), Some(Vacuous::UnseenThread(String::from("here"))));
    }

    #[test]
    fn nothing_is_said_where_nothing_was_run() {
        assert_eq!(of(&Purpose::default(), 0, 0), None);
    }

    #[test]
    fn one_thread_is_no_mistake() {
        assert!(!Vacuous::OneThread.is_mistake() && Vacuous::NothingShared.is_mistake());
    }
}
