//! Release/acquire memory: every atomic read acquires, every atomic write releases.
//!
//! A graph is consistent when `hb = (po ∪ rf)⁺` is acyclic and coherence agrees with it, which
//! is what holds for every graph by construction; nothing is left to check. Fences have no
//! effect, and SeqCst is no more than acquire and release.
//! From Lahav et al., "Taming release-acquire consistency" (POPL 2016).

use unpick_core::event::EventId;
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::memory::MemoryModel;

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ra;

impl MemoryModel for Ra {
    fn name(&self) -> &'static str {
        "ra"
    }

    fn synchronisation(&self) -> Synchronisation {
        Synchronisation::Always
    }

    fn consistent(&mut self, _: &Graph, _: &[EventId]) -> bool {
        true
    }

    fn assumptions(&self) -> &'static [&'static str] {
        &[crate::NO_LOAD_BUFFERING, "`ra` takes every access as acquire and release, SeqCst included"]
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::op::Mode::{Relaxed, SeqCst};

    use crate::draft::{allows, first_writes_last, message_passing, opposite_orders, store_buffering};

    #[test]
    fn every_write_releases_and_every_read_acquires() {
        assert!(!allows("ra", message_passing(Relaxed, Relaxed)));
    }

    #[test]
    fn nothing_orders_independent_accesses() {
        assert!(allows("ra", store_buffering(SeqCst, |_, _| ())));
        assert!(allows("ra", opposite_orders(SeqCst, SeqCst)));
        assert!(allows("ra", first_writes_last(SeqCst)));
    }

    #[test]
    fn fences_have_no_effect() {
        assert!(allows("ra", store_buffering(Relaxed, |draft, thread| draft.fence(thread, SeqCst))));
    }
}
