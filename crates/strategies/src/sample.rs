//! Samplers: executions drawn at random, one after another.
//!
//! A sampler draws three things. *Which thread moves* is decided by a policy, the file of each
//! sampler: `pct` and `walk` (`random`) here, the others in [`research`](crate::research). *What a read sees* is drawn here, among all writes that the memory model allows it to see;
//! *where a write goes* in coherence order likewise. So a sampler works under every memory model, and
//! names none. Under a model whose executions are [interleavings](unpick_core::memory::MemoryModel::interleaves)
//! nothing but threads is drawn.
//!
//! - A read sees the newest write with probability 1/2, and otherwise any that it may see, each alike;
//!   a write goes last, or to any place, in the same way. Loops would else see too much that is stale.
//! - The coherence order is total at every moment: a write gets its place when it is added. A search
//!   that leaves the order open until somebody looks reaches the same outcomes: each order that it could
//!   settle on is one that is drawn here.
//! - Ops that touch no memory (spawn, join, fence, end) are [taken at once](Strategy::samples). So a policy
//!   counts and orders accesses and choices only.
//! - Long executions are [compacted](Graph::compact) now and then, so that memory stays bounded.
//!
//! Run `n` of a seed has a seed of its own, made from both.

mod draw;
pub mod names;
mod pct;
pub(crate) mod walk;

use unpick_core::coverage::Coverage;
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::memory::MemoryModel;
use unpick_core::op::{Addr, Op, Rmw, ThreadId};
use unpick_core::strategy::{LockWaiter, Ready, Scene, Seen, Strategy};

pub(crate) use draw::Draw;

/// How far back in the coherence order a read looks in long executions.
const MOST_STALE: usize = 64;

/// How many reads of a location are looked at to find out what may be read there; a location with more
/// that matter is read at its newest.
const MOST_READS: usize = 512;

/// Effort of the memory model, in events looked at, after which a graph lets go of older ones. Where many
/// accesses are SeqCst, the search for cycles is over all of the graph.
const EFFORT: u64 = 400_000;

/// Which thread moves next, and what is learned from it.
pub(crate) trait Policy: Send {
    /// Whether the policy wants to choose sources of reads.
    const CHOOSES: bool = false;

    /// Whether threads run ahead, so that reads must be able to see older writes even where executions are
    /// interleavings: those that the policy leaves out come about in this way.
    const RUNS_AHEAD: bool = false;

    /// Whether the policy looks at the ops before which threads stand.
    const COMPARES_OPS: bool = true;

    /// The name by which users choose it.
    fn name(&self) -> &'static str;

    /// A run begins.
    fn begin(&mut self, coverage: &Coverage, draw: &mut Draw);

    /// The thread that moves; one of `ready`, which all stand before accesses or choices.
    fn pick(&mut self, graph: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId;

    /// Which of these writes the read is to see, by its index; `None`: any. The newest is the last.
    fn choose(
        &mut self,
        _graph: &Graph,
        _read: EventId,
        _sources: &[EventId],
        _draw: &mut Draw,
    ) -> Option<usize> {
        None
    }

    /// An access has been added to the graph.
    #[inline(always)]
    fn added(&mut self, _graph: &Graph, _id: EventId) {}

    /// The graph is about to let go of its events.
    fn forget(&mut self) {}

    /// The run is over; `new`: it had reads-from pairs that no earlier one had; `seen`: how many runs,
    /// with this one, had the same set of pairs.
    fn end(&mut self, graph: &Graph, coverage: &Coverage, new: bool, seen: u64);
}

/// A strategy that draws executions.
#[derive(Debug)]
pub(crate) struct Sampler<P> {
    policy: P,
    seed: u64,
    run: u64,
    begun: bool,
    draw: Draw,
    spurious: bool,
    coverage: Coverage,
    sources: Vec<EventId>,
    /// The effort of the memory model at which the next line is drawn.
    most_effort: u64,
    /// Whether the memory model was asked since its effort was last looked at.
    asked: bool,
}

impl<P: Policy> Sampler<P> {
    /// A sampler; `spurious` lets weak exchanges fail without a reason.
    pub(crate) fn new(policy: P, seed: u64, spurious: bool) -> Sampler<P> {
        Sampler {
            policy,
            seed,
            run: 0,
            begun: false,
            draw: Draw::new(seed, 0),
            spurious,
            coverage: Coverage::default(),
            sources: Vec::new(),
            most_effort: EFFORT,
            asked: false,
        }
    }

    /// Begins a run.
    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        self.begun = true;
        self.draw = Draw::new(self.seed, self.run);
        self.policy.begin(&self.coverage, &mut self.draw);
    }

    /// Makes room in an execution that is long, or whose consistency has become costly to tell.
    #[inline(always)]
    fn bound(&mut self, graph: &mut Graph, model: &dyn MemoryModel) {
        if graph.is_full() || (self.asked && model.effort() > self.most_effort) {
            self.most_effort = model.effort() + EFFORT;
            self.policy.forget();
            graph.compact();
        }
        self.asked = false;
    }

    /// Whether the graph is consistent with what has just been added.
    fn is_consistent(&mut self, graph: &Graph, model: &mut dyn MemoryModel, added: EventId) -> bool {
        self.asked = true;
        model.consistent(graph, &[added])
    }

    /// Collects the writes that a read may see by coherence and atomicity, the newest last.
    fn collect_sources(&mut self, graph: &Graph, read: EventId) {
        let event = graph.event(read);
        let addr = event.addr;
        let newest = graph.writes(addr).len();
        self.sources.clear();
        let may_see = |position: usize| {
            event.rmw == Rmw::None
                || !graph.splits(addr, position)
                || event.apply(graph.value(addr, graph.write_at(addr, position))).is_none()
        };
        // Often there is none but the newest, and who knows what need not be asked.
        if let Some(first) = (graph.bottom(addr)..newest).find(|&position| may_see(position)) {
            for position in floor(graph, addr, read).max(first)..newest {
                if may_see(position) {
                    self.sources.push(graph.write_at(addr, position));
                }
            }
        }
        self.sources.push(graph.newest(addr));
    }

    /// Adds a read, and lets it see one of the writes that it may see.
    #[inline(never)]
    fn add_any(
        &mut self,
        graph: &mut Graph,
        model: &mut dyn MemoryModel,
        thread: ThreadId,
        op: &Op,
    ) -> EventId {
        let (read, addr) = (graph.add(thread, op), op.addr);
        if !P::CHOOSES && op.rmw == Rmw::None {
            let (lowest, newest) = (floor(graph, addr, read), graph.writes(addr).len());
            let place = if lowest == newest { newest } else { lowest + self.draw.index(newest + 1 - lowest) };
            graph.read_from(read, graph.write_at(addr, place), false);
            // The newest is always consistent. If this one is not, all are drawn from again.
            if place == newest || self.is_consistent(graph, model, read) {
                return read;
            }
        }
        self.collect_sources(graph, read);
        let mut wanted = match P::CHOOSES {
            true => self.policy.choose(graph, read, &self.sources, &mut self.draw),
            false => None,
        };
        loop {
            let last = self.sources.len() - 1;
            let chosen = wanted.take().unwrap_or_else(|| self.draw.index(last + 1));
            let source = self.sources[chosen];
            graph.read_from(read, source, false);
            if chosen == last || last == 0 || self.is_consistent(graph, model, read) {
                return read;
            }
            self.sources.remove(chosen);
        }
    }

    /// Lets a weak exchange that has succeeded fail now and then.
    #[inline(never)]
    fn draw_failure(&mut self, graph: &mut Graph, model: &mut dyn MemoryModel, read: EventId) {
        if graph.event(read).is_update() && self.draw.below(4) == 0 {
            let source = graph.event(read).rf;
            graph.read_from(read, source, true);
            if !self.is_consistent(graph, model, read) {
                graph.read_from(read, source, false);
            }
        }
    }
}

/// Whether the op can see the newest write only: it writes, and each other write has its reader that does.
#[inline(always)]
fn is_newest_only(graph: &Graph, op: &Op) -> bool {
    op.rmw.always_writes() && graph.is_chain(op.addr)
}

/// The first place of the coherence order that an event may see or follow. In long executions it may be
/// a later one, which loses outcomes but adds none.
fn floor(graph: &Graph, addr: Addr, id: EventId) -> usize {
    let (writes, reads) = (graph.writes(addr), graph.reads(addr));
    if writes.len() <= MOST_STALE && reads.len() <= MOST_READS {
        return graph.floor_of_new(addr, id);
    }
    let hb = graph.hb(id);
    let knows = |event: EventId| unpick_core::clock::knows(hb, event);
    let lowest = writes.len().saturating_sub(MOST_STALE);
    let known = writes[lowest..].iter().rposition(|&write| knows(write));
    let mut floor = known.map_or(lowest.max(graph.bottom(addr)), |place| lowest + place + 1);
    let oldest = writes[floor..].iter().map(|&write| graph.event(write).stamp).min();
    let Some(oldest) = oldest else { return floor };
    for (count, &read) in reads.iter().rev().filter(|&&read| read != id).enumerate() {
        let event = graph.event(read);
        if event.stamp < oldest {
            break;
        }
        if count == MOST_READS {
            return writes.len();
        }
        if knows(read)
            && let Some(place) = writes[floor..].iter().rposition(|&write| write == event.rf)
        {
            floor += place + 1;
        }
    }
    floor
}

impl<P: Policy> Strategy for Sampler<P> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn samples(&self) -> bool {
        true
    }

    fn compares_ops(&self) -> bool {
        P::COMPARES_OPS
    }

    fn coverage(&self) -> Option<&Coverage> {
        Some(&self.coverage)
    }

    fn admits(&mut self, _: ThreadId, _: bool, _: &Ready) -> bool {
        true
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        if !self.begun {
            self.begin();
        }
        Some(self.policy.pick(graph, ready, &mut self.draw))
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        let Scene { graph, model } = scene;
        self.bound(graph, model);
        let newest = op.rmw.may_wait()
            || (!P::CHOOSES && (graph.writes(op.addr).is_empty() || self.draw.coin()))
            || (!P::RUNS_AHEAD && model.interleaves())
            || (!P::CHOOSES && is_newest_only(graph, op));
        let (read, source, mut changed);
        if newest {
            source = graph.newest_source(op.addr);
            let (added, written) = graph.add_newest_read(thread, op, &source);
            read = added;
            changed = written.is_some_and(|written| written != source.value);
        } else {
            read = self.add_any(graph, model, thread, op);
            source = graph.source_of(read);
            changed = Seen::by(graph, read).changed;
        }
        if self.spurious && op.rmw == Rmw::WeakCas {
            self.draw_failure(graph, model, read);
            changed = Seen::by(graph, read).changed;
        }
        self.coverage.add(source.site, op.site);
        self.policy.added(graph, read);
        Seen { value: source.value, changed }
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let Scene { graph, model } = scene;
        self.bound(graph, model);
        let write = graph.add(thread, op);
        let last = graph.writes(op.addr).len();
        let fixed = op.rmw == Rmw::Lock || (!P::RUNS_AHEAD && model.interleaves());
        graph.break_chain(op.addr);
        if fixed || last == 0 || self.draw.coin() {
            graph.insert_write(op.addr, last, write);
        } else {
            let lowest = floor(graph, op.addr, write);
            loop {
                let place = lowest + self.draw.index(last + 1 - lowest);
                if place < last && graph.splits(op.addr, place) {
                    continue;
                }
                graph.insert_write(op.addr, place, write);
                if place == last || self.is_consistent(graph, model, write) {
                    break;
                }
                graph.remove_write(op.addr, write);
            }
        }
        self.policy.added(graph, write);
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        if !self.begun {
            self.begin();
        }
        let value = self.draw.below(op.operand.max(1));
        scene.graph.add_with_value(thread, op, value)
    }

    fn stuck(&mut self, _: Scene<'_>, _: &[LockWaiter]) {}

    fn prepare_rerun(&mut self, scene: Scene<'_>) {
        self.coverage.abandon();
        self.begun = false;
        self.most_effort = scene.model.effort() + EFFORT;
        scene.graph.clear();
    }

    fn next(&mut self, scene: Scene<'_>) -> bool {
        let (new, seen) = self.coverage.end();
        self.policy.end(scene.graph, &self.coverage, new, seen);
        self.run += 1;
        self.begun = false;
        self.most_effort = scene.model.effort() + EFFORT;
        scene.graph.clear();
        true
    }
}
