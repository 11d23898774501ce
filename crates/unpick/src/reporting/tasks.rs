//! What there is to say about a future that waits for a waker which nobody calls.

use unpick_core::op::{Addr, Kind, Rmw};
use unpick_core::violation::Waiter;
use unpick_runtime::site;

use super::trace::FailingRun;

/// The kind of the object that a thread waits for between two polls.
const WAKER: &str = "Waker";

impl FailingRun<'_> {
    /// Where the future that a thread runs was last polled, if the thread waits for its waker.
    pub(super) fn last_poll(&self, waiter: &Waiter, addr: Addr) -> Option<String> {
        if self.explored.kinds.0.get(addr.index()) != Some(&WAKER) {
            return None;
        }
        let events = self.graph.thread(waiter.point.thread);
        let events = events.get(..waiter.point.index as usize).unwrap_or(events);
        let waits = |event: &&unpick_core::event::Event| event.kind == Kind::Read && event.rmw == Rmw::Await;
        let poll = events.iter().rev().take_while(|event| !(waits(event) && event.addr == addr));
        // What the executor itself does has the place of the call that started it.
        let own = poll.filter(|event| event.site != waiter.point.site);
        let place = own.filter_map(|event| site::place(event.site)).next();
        let is_task = self
            .graph
            .spawn_of(waiter.point.thread)
            .is_some_and(|spawn| self.graph.event(spawn).site == waiter.point.site);
        let what = if is_task { "the task" } else { "the future" };
        Some(match place {
            Some(place) => format!("{what} was last polled at {}:{}", place.file, place.line),
            None => format!("when {what} was last polled it did nothing that other threads can see"),
        })
    }
}
