//! Memory models, one file each.
//!
//! | name | what it is |
//! |---|---|
//! | `cpp20` | C++20 and so Rust: RC11 with the total order of P0668; the default |
//! | `rc11` | RC11 as published (Lahav et al., PLDI 2017), with C++20 release sequences |
//! | `rc11g` | RC11 as GenMC implements it; for comparing counts |
//! | `ra` | release/acquire: every access synchronises, no order of SeqCst operations |
//! | `tso` | total store order, as on x86; modes are ignored |
//! | `sc` | sequential consistency; modes are ignored |
//!
//! Coherence and atomicity hold by construction ([`unpick_core::memory`]); the files here hold
//! what is left. All models keep `po ∪ rf` acyclic: no load buffering.

#![forbid(unsafe_code)]

pub mod cpp20;
#[cfg(test)]
mod draft;
pub mod ra;
pub mod rc11;
pub mod sc;
mod search;
pub mod tso;

pub use cpp20::Cpp20;
pub use ra::Ra;
pub use rc11::Rc11;
pub use sc::Sc;
pub use tso::Tso;

use unpick_core::memory::MemoryModel;

/// The names of all models, the default first. Schedules say where in this list theirs is: new names come at the end.
pub const NAMES: [&str; 6] = ["cpp20", "rc11", "sc", "tso", "ra", "rc11g"];

/// The model with this name.
pub fn by_name(name: &str) -> Option<Box<dyn MemoryModel>> {
    Some(match name {
        "cpp20" => Box::new(Cpp20::default()),
        "rc11" => Box::new(Rc11::published()),
        "rc11g" => Box::new(Rc11::genmc()),
        "ra" => Box::new(Ra),
        "tso" => Box::new(Tso::default()),
        "sc" => Box::new(Sc::default()),
        _ => return None,
    })
}

/// What every model assumes about the program.
pub(crate) const NO_LOAD_BUFFERING: &str = "no load buffering: `po ∪ rf` is acyclic";

#[cfg(test)]
mod tests {
    use unpick_core::op::Mode::{AcqRel, Relaxed, SeqCst};

    use super::*;
    use crate::draft::{Draft, INIT, X, Y, allowed_by};

    #[test]
    fn models_have_the_places_that_schedules_know_them_by() {
        assert_eq!(NAMES[..6], ["cpp20", "rc11", "sc", "tso", "ra", "rc11g"]);
    }

    #[test]
    fn each_model_has_the_name_that_it_is_found_by() {
        for name in NAMES {
            assert_eq!(by_name(name).map(|model| model.name()), Some(name));
        }
        assert!(by_name("arm").is_none());
    }

    /// Expects that no model accepts the draft, and that all do without its last part.
    fn expect_forbidden(made: impl Fn(&mut Draft), last: impl Fn(&mut Draft)) {
        assert_eq!(allowed_by(&made), NAMES, "before the last part");
        let none: [&str; 0] = [];
        assert_eq!(
            allowed_by(|draft| {
                made(draft);
                last(draft);
            }),
            none
        );
    }

    #[test]
    fn a_thread_never_reads_an_older_write_after_a_newer_one() {
        let newer = |draft: &mut Draft| {
            draft.spawn(2);
            draft.write(1, X, Relaxed);
            let newer = draft.write(1, X, Relaxed);
            draft.read(2, X, Relaxed, newer);
        };
        expect_forbidden(newer, |draft| {
            let older = draft.graph.writes(X)[0];
            draft.read(2, X, Relaxed, older);
        });
    }

    #[test]
    fn a_thread_never_reads_what_its_own_write_has_replaced() {
        let own = |draft: &mut Draft| {
            draft.spawn(1);
            draft.write(1, X, Relaxed);
        };
        expect_forbidden(own, |draft| {
            draft.read(1, X, Relaxed, INIT);
        });
    }

    #[test]
    fn the_writes_of_a_thread_keep_their_order() {
        let first = |draft: &mut Draft| {
            draft.spawn(1);
            draft.write(1, X, Relaxed);
        };
        expect_forbidden(first, |draft| {
            draft.write_at(1, X, Relaxed, 0);
        });
    }

    #[test]
    fn a_write_goes_after_what_its_thread_has_read() {
        let seen = |draft: &mut Draft| {
            draft.spawn(2);
            let seen = draft.write(1, X, Relaxed);
            draft.read(2, X, Relaxed, seen);
        };
        expect_forbidden(seen, |draft| {
            draft.write_at(2, X, Relaxed, 0);
        });
    }

    #[test]
    fn two_updates_never_read_the_same_write() {
        let one = |draft: &mut Draft| {
            draft.spawn(2);
            draft.update(1, X, Relaxed, INIT);
        };
        expect_forbidden(one, |draft| {
            draft.update(2, X, Relaxed, INIT);
        });
    }

    #[test]
    fn no_write_goes_between_an_update_and_what_it_reads() {
        let update = |draft: &mut Draft| {
            draft.spawn(2);
            draft.update(1, X, Relaxed, INIT);
        };
        expect_forbidden(update, |draft| {
            draft.write_at(2, X, Relaxed, 0);
        });
    }

    #[test]
    fn what_a_thread_did_before_a_spawn_is_known_to_the_child() {
        let spawned = |draft: &mut Draft| {
            draft.write(0, X, Relaxed);
            draft.spawn(1);
        };
        expect_forbidden(spawned, |draft| {
            draft.read(1, X, Relaxed, INIT);
        });
    }

    #[test]
    fn what_a_thread_did_is_known_to_whoever_joins_it() {
        let joined = |draft: &mut Draft| {
            draft.spawn(1);
            draft.write(1, X, Relaxed);
            draft.finish(1);
            draft.join(0, 1);
        };
        expect_forbidden(joined, |draft| {
            draft.read(0, X, Relaxed, INIT);
        });
    }

    /// Store buffering between thread 1 and two others, of which one ends, or begins, between write and read. The
    /// edges of spawn and join are on the cycle.
    #[test]
    fn cycles_lead_through_spawns_and_joins() {
        let through_spawn = |draft: &mut Draft| {
            draft.spawn(1);
            draft.write(0, X, Relaxed);
            draft.spawn_one(2);
            draft.read(2, Y, Relaxed, INIT);
            draft.write(1, Y, Relaxed);
            draft.fence(1, SeqCst);
            draft.read(1, X, Relaxed, INIT);
        };
        let through_join = |draft: &mut Draft| {
            draft.spawn(2);
            draft.write(2, X, Relaxed);
            draft.finish(2);
            draft.join(0, 2);
            draft.read(0, Y, Relaxed, INIT);
            draft.write(1, Y, Relaxed);
            draft.fence(1, SeqCst);
            draft.read(1, X, Relaxed, INIT);
        };
        for through in [through_spawn as fn(&mut Draft), through_join] {
            assert_eq!(allowed_by(through), ["cpp20", "rc11", "ra", "rc11g"]);
        }
    }

    /// Two threads wait for thread 1, and the cycle leads through the one that comes first.
    #[test]
    fn cycles_lead_through_each_join_of_a_thread() {
        let joined_twice = |draft: &mut Draft| {
            draft.spawn(3);
            draft.write(1, X, Relaxed);
            draft.finish(1);
            draft.join(3, 1);
            draft.read(3, Y, Relaxed, INIT);
            draft.join(0, 1);
            draft.write(2, Y, Relaxed);
            draft.fence(2, SeqCst);
            draft.read(2, X, Relaxed, INIT);
        };
        assert_eq!(allowed_by(joined_twice), ["cpp20", "rc11", "ra", "rc11g"]);
    }

    /// Release and acquire, by an update in the middle of which each model makes the same.
    #[test]
    fn an_update_hands_on_what_the_write_before_it_published() {
        let handed_on = |draft: &mut Draft| {
            draft.spawn(3);
            draft.write(1, X, Relaxed);
            let flag = draft.write(1, Y, AcqRel);
            let update = draft.update(2, Y, Relaxed, flag);
            draft.read(3, Y, AcqRel, update);
        };
        expect_forbidden(handed_on, |draft| {
            draft.read(3, X, Relaxed, INIT);
        });
    }
}
