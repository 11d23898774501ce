//! Loops that wait: recognised by the state they come back to.
//!
//! A loop iteration that only reads, and after which the thread is exactly where it was before
//! (same code position, same live stack, same registers), has done nothing: an execution with it
//! is as good as one without. So the thread is stopped at the second arrival; whatever else it
//! could read there, it can read at the first.
//!
//! Only reads at *suspect* places are looked at: places that a thread has reached twice with no
//! write in between. At those the stack and the registers that a callee must preserve are hashed.
//! When a state comes back, the iteration is repeated once more as a *ghost*: the same answers
//! are given, no event is added, and the memory of all threads is compared before and after. That
//! tells loops that count in memory from loops that only wait.
//!
//! A write of the value just read counts as no write: `while lock.swap(true) {}` only waits.

use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::op::{Kind, Op, Site, ThreadId};

/// An iteration that is being repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ghost {
    pub(crate) thread: ThreadId,
    pub(crate) site: Site,
    /// First event of the iteration.
    pub(crate) from: u32,
    /// The event whose answer comes next.
    pub(crate) at: u32,
    /// End of the iteration.
    pub(crate) to: u32,
    pub(crate) state: u64,
    pub(crate) memory: u64,
}

/// Marks a note of the graph as the hash of a state; other notes say that the place of the event
/// was not suspect when there were so many suspects.
const STATE: u64 = 1 << 63;

/// What is known about the loops of a program.
#[derive(Debug, Default)]
pub(crate) struct Spins {
    suspects: Vec<Site>,
    /// States that came back although the thread had changed something.
    refuted: Vec<(Site, u64)>,
    /// The state before the read that is being taken.
    pub(crate) before: Option<u64>,
    pub(crate) ghost: Option<Ghost>,
}

impl Spins {
    /// Forgets what belongs to the last run.
    pub(crate) fn begin(&mut self) {
        self.ghost = None;
        self.before = None;
    }

    /// Whether any place is suspect.
    pub(crate) fn any_suspects(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Whether the place is suspect.
    pub(crate) fn is_suspect(&self, site: Site) -> bool {
        self.suspects.contains(&site)
    }

    /// Notes that a state came back although something had changed.
    pub(crate) fn refute(&mut self, site: Site, state: u64) {
        self.refuted.push((site, state));
    }

    /// Whether it is known if the place of a recorded event is suspect, and in which state its
    /// thread was.
    #[inline(always)]
    pub(crate) fn is_noted(&self, note: u64) -> bool {
        note & STATE != 0 || note == self.suspects.len() as u64
    }

    /// What to note about an event whose place is not suspect.
    pub(crate) fn unsuspicious(&self) -> u64 {
        self.suspects.len() as u64
    }

    /// Whether the thread has been here before, at the same location, without having changed
    /// anything since. Then the place becomes suspect.
    pub(crate) fn recurs(&mut self, graph: &Graph, thread: ThreadId, op: &Op) -> bool {
        let recurs = rounds(graph, thread, op) > 0;
        if recurs {
            self.suspects.push(op.site);
        }
        recurs
    }

    /// The first event of the iteration that has led the thread back to this state, if one has.
    pub(crate) fn back(&self, graph: &Graph, thread: ThreadId, site: Site, state: u64) -> Option<u32> {
        let ids = (0..graph.thread_len(thread)).rev().map(|index| EventId::new(thread, index));
        let mut idle = ids.take_while(|&id| is_idle(graph, id));
        let first = idle.find(|&id| graph.event(id).site == site && graph.note(id) == state)?;
        (!self.refuted.contains(&(site, state))).then_some(first.index)
    }
}

/// Whether the event changed nothing that others can see.
fn is_idle(graph: &Graph, id: EventId) -> bool {
    let event = graph.event(id);
    match event.kind {
        Kind::Read => !event.is_update() || event.value == graph.read_value(id),
        Kind::Fence | Kind::Choice => true,
        Kind::Write | Kind::Spawn | Kind::Join | Kind::Finish => false,
    }
}

/// How often in a row the thread has been at this place and read the same write of the same
/// location there, without changing anything in between.
pub(crate) fn rounds(graph: &Graph, thread: ThreadId, op: &Op) -> usize {
    let events = graph.thread(thread);
    let mut last: Option<EventId> = None;
    let mut rounds = 0;
    for index in (0..events.len()).rev() {
        if !is_idle(graph, EventId::new(thread, index)) {
            break;
        }
        if events[index].site == op.site && events[index].addr == op.addr {
            if last.is_some_and(|rf| rf != events[index].rf) {
                break;
            }
            last = Some(events[index].rf);
            rounds += 1;
        }
    }
    rounds
}

/// Whether the recorded event is what the op asks for, from the same place.
pub(crate) fn repeats(event: &Event, op: &Op) -> bool {
    event.matches(op) && event.site == op.site && event.operand == op.operand && event.expected == op.expected
}

/// A hash of some bytes: fast, not cryptographic, the same in every process, never 0.
pub(crate) fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mix = |h: u64, word: u64| (h ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
    let word = |chunk: &[u8]| u64::from_ne_bytes(chunk.try_into().unwrap_or_default());
    // Four lanes: one multiplication need not wait for the one before.
    let mut lanes = [seed, !seed, seed.rotate_left(17), seed ^ bytes.len() as u64];
    let blocks = bytes.chunks_exact(32);
    let rest = blocks.remainder();
    for block in blocks {
        for (lane, chunk) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = mix(*lane, word(chunk));
        }
    }
    let mut tail = [0; 32];
    tail[..rest.len()].copy_from_slice(rest);
    for (lane, chunk) in lanes.iter_mut().zip(tail.chunks_exact(8)) {
        *lane = mix(*lane, word(chunk));
    }
    lanes.into_iter().fold(0, mix) | STATE
}
