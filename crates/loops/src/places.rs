//! Places where a loop may wait.
//!
//! Looking at a thread takes time, so only *suspect* places are looked at: where a thread has come a second
//! time, with nothing in between that others could act on. Where executions are drawn at random, a place becomes
//! suspect later, since most loops end soon there.

use unpick_core::event::Event;
use unpick_core::graph::Graph;
use unpick_core::op::{Op, Rmw, Site, ThreadId};
use unpick_core::round;

/// How far back the events of a thread are looked at.
const BACK: usize = 256;

/// Rounds after which a place becomes suspect in executions that are drawn at random.
pub const DRAWN_ROUNDS: usize = 8;

/// The bit of a place; places are addresses of three words.
#[inline(always)]
fn mark(site: Site) -> u64 {
    1 << (site.0 >> 3 & 63)
}

/// The suspect places.
#[derive(Debug, Default)]
pub struct Places {
    suspects: Vec<Site>,
    /// A bit for each suspect, and maybe for other places: whoever has none is no suspect.
    marks: u64,
}

impl Places {
    /// Whether any place is suspect.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.marks != 0
    }

    /// Whether the place is suspect.
    #[inline(always)]
    pub fn is_suspect(&self, site: Site) -> bool {
        self.marks & mark(site) != 0 && self.suspects.contains(&site)
    }

    /// Makes the place suspect if the thread goes round there; whether it does.
    #[inline]
    pub fn suspect(&mut self, graph: &Graph, thread: ThreadId, op: &Op, samples: bool) -> bool {
        let enough = if samples { DRAWN_ROUNDS } else { 1 };
        if !goes_round(graph, thread, op, enough) {
            return false;
        }
        if !self.is_suspect(op.site) {
            self.suspects.push(op.site);
            self.marks |= mark(op.site);
        }
        true
    }
}

/// Whether the event is what the op would become, but for its values.
#[inline(always)]
pub(crate) fn is_like(event: &Event, op: &Op) -> bool {
    (event.site, event.kind, event.rmw, event.addr) == (op.site, op.kind, op.rmw, op.addr)
}

/// Whether the thread has been at this place so often before, with the same location, and what it has done since it was
/// last there leaves nothing behind.
#[inline]
fn goes_round(graph: &Graph, thread: ThreadId, op: &Op, enough: usize) -> bool {
    let events = graph.thread(thread);
    let end = (graph.base(thread) + events.len()) as u32;
    let recent = || events.iter().rev().take(BACK);
    let Some(since) = recent().position(|event| is_like(event, op)) else { return false };
    (enough == 1 || recent().filter(|event| is_like(event, op)).take(enough).count() == enough)
        && !backs_off(&events[events.len() - since - 1..])
        && round::leaves_nothing(graph, thread, end - since as u32 - 1..end)
}

/// Whether the thread takes something first, fails to take something else, and gives the first back. Such a thread is looked at
/// where it fails, while it has the first: then it has that at both ends of a round, and who finds it taken cannot tell rounds apart.
fn backs_off(round: &[Event]) -> bool {
    let fails = |event: &Event| event.is_read() && event.rmw != Rmw::None && !event.is_update();
    round.split_first().is_some_and(|(first, rest)| first.is_update() && rest.iter().any(fails))
}

/// If the thread has been at this place so often in a row, and has left nothing behind in between: since which event.
pub(crate) fn goes_round_often(graph: &Graph, thread: ThreadId, op: &Op, enough: usize) -> Option<u32> {
    let events = graph.thread(thread);
    let base = graph.base(thread) as u32;
    let mut end = base + events.len() as u32;
    let mut rounds = 0;
    for (event, index) in events.iter().zip(base..end).rev() {
        if !is_like(event, op) {
            continue;
        }
        if !round::leaves_nothing(graph, thread, index..end) {
            return None;
        }
        (end, rounds) = (index, rounds + 1);
        if rounds == enough {
            return Some(index);
        }
    }
    None
}
