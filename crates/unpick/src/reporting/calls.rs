//! Calls that take several steps, told as the program spells them.
//!
//! A `Condvar` or a channel is made of several locations, which the program knows nothing of. Each of
//! their events is told as a part of the call that caused it.

use unpick_check::blame::newer_write;
use unpick_core::event::{Event, EventId};
use unpick_core::op::{Addr, Kind, Rmw, Site, Value};
use unpick_core::trace::Action;
use unpick_core::violation::{Kind as ViolationKind, Wait};
use unpick_runtime::site;

use super::trace::FailingRun;

/// Kinds of objects, besides the atomics, whose calls are one op each on a value that the program knows. Others are made of
/// several locations, or their values mean nothing to the program.
const SIMPLE: [&str; 5] = ["Arc", "Mutex", "Notify", "Weak", "sleep"];

/// Whether an object of a kind is made of several locations, or its values mean nothing to the program.
fn is_composed(kind: &str) -> bool {
    let is_atomic = kind.starts_with("Atomic") && kind != "AtomicWaker";
    !(kind.is_empty() || is_atomic || SIMPLE.contains(&kind))
}

impl FailingRun<'_> {
    /// What an event did, if it is a part of a call; and whether it is out of the ordinary.
    pub(super) fn part_of_call(&mut self, id: EventId, event: &Event) -> Option<(Action, bool)> {
        let object = event.addr.index();
        let kind = *self.explored.kinds.0.get(object)?;
        if !is_composed(kind) {
            return None;
        }
        let call = self.call(event.site).unwrap_or_else(|| kind.to_string());
        let old = if event.is_read() { self.graph.read_value(id) } else { 0 };
        let part = self.part(kind, event, old);
        let after = (event.is_read() && !event.rf.is_init()).then(|| self.steps.of(event.rf));
        let stale = event.is_read() && newer_write(self.graph, id).is_some();
        Some((Action::Call { call, object, part, after }, stale))
    }

    /// The call at a place, as the program spells it, without its arguments.
    pub(super) fn call(&mut self, site: Site) -> Option<String> {
        let place = site::place(site)?;
        let name = self.sources.name(&place)?;
        Some(match self.sources.receiver(&place) {
            Some(receiver) => format!("{receiver}.{name}()"),
            None => format!("{name}()"),
        })
    }

    fn part(&self, kind: &str, event: &Event, old: Value) -> String {
        let text = match (kind, event.kind, event.rmw) {
            (_, Kind::Write, Rmw::Lock) if event.value > 1 => "is done",
            (_, Kind::Write, Rmw::Lock) => "unlocks",
            (_, Kind::Read, Rmw::Lock | Rmw::TryLock) if event.is_update() => "locks",
            (_, Kind::Read, Rmw::Lock) => "finds it done",
            (_, Kind::Read, Rmw::TryLock) => "finds it locked",
            ("channel", Kind::Read, Rmw::Await) => "receives",
            ("channel", Kind::Read, Rmw::Post) => "delivers",
            (_, Kind::Read, Rmw::Await) => "goes on",
            (_, Kind::Read, Rmw::Post) => return self.wakes(event.addr),
            ("Condvar", Kind::Read, Rmw::Or) => "starts to wait",
            ("Condvar", Kind::Read, Rmw::And) => "stops waiting",
            ("Condvar", Kind::Read, Rmw::TakeBit | Rmw::TakeAll) if old == 0 => "finds nobody waiting",
            ("Barrier", Kind::Read, Rmw::Or) => "arrives",
            _ => "",
        };
        text.to_string()
    }

    /// Who goes on when a signal is sent.
    fn wakes(&self, addr: Addr) -> String {
        let is_wait = |event: &Event| event.rmw == Rmw::Await && event.addr == addr;
        let order = self.graph.order().iter();
        let woken = order.copied().find(|&id| is_wait(self.graph.event(id))).map(|id| id.thread);
        let waiters = match &self.violation.kind {
            ViolationKind::Deadlock { waiters } | ViolationKind::Livelock { waiters } => waiters.as_slice(),
            _ => &[],
        };
        let waits = |wait: &Wait| matches!(wait, Wait::Signal { addr: at, .. } if *at == addr);
        let waiting = waiters.iter().find(|waiter| waits(&waiter.wait)).map(|waiter| waiter.point.thread);
        match woken.or(waiting) {
            Some(thread) => format!("wakes {}", site::thread_name(thread)),
            None => String::new(),
        }
    }
}
