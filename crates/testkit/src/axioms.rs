//! The axioms of the memory models, over one finished candidate graph.
//!
//! Written to be compared with the definitions line by line, as relations:
//!
//! - `SC`: `acyclic(po ∪ rf ∪ mo ∪ fr)`.
//! - `TSO`: `acyclic(po|loc ∪ rf ∪ mo ∪ fr)` and `acyclic(ppo ∪ rfe ∪ mo ∪ fr)`.
//! - The others: `irreflexive(hb ; eco?)` and `acyclic(po ∪ rf)`, with `hb = (po ∪ rf)⁺` for `RA`
//!   and `hb = (po ∪ sw)⁺` for the rest, which add an SC axiom: RC11 (Lahav et al., PLDI 2017),
//!   its GenMC variant, or C++20 (P0668).
//!
//! Atomicity of updates is not here: `places` builds no other graphs. Choices are not here either:
//! they have no memory effect, so they take no part in `po`.

use crate::key::Kind;
use crate::model::Model;
use crate::program::Mode;
use crate::relation::{Relation, Set};
use crate::trace::Event;

/// The thread of an initial write.
pub(crate) const INIT: usize = usize::MAX;

/// A graph: events with `po`, and the `rf` and `mo` under test. Initial writes come first.
pub(crate) struct Graph {
    pub(crate) events: Vec<Event>,
    pub(crate) threads: Vec<usize>,
    pub(crate) po: Relation,
    pub(crate) same_place: Relation,
    pub(crate) rf: Relation,
    pub(crate) mo: Relation,
}

impl Graph {
    /// A graph without `rf` and `mo`. Events of a thread are adjacent and in program order.
    pub(crate) fn new(events: Vec<Event>, threads: Vec<usize>) -> Graph {
        let size = events.len();
        let empty = Relation::empty(size);
        let (mut po, mut same_place) = (empty, empty);
        for a in 0..size {
            for b in 0..size {
                let both_access = events[a].kind != Kind::Fence && events[b].kind != Kind::Fence;
                if both_access && events[a].place == events[b].place {
                    same_place.add(a, b);
                }
                let after_init = threads[a] == INIT && threads[b] != INIT;
                if after_init || (threads[a] != INIT && threads[a] == threads[b] && a < b) {
                    po.add(a, b);
                }
            }
        }
        Graph { events, threads, po, same_place, rf: empty, mo: empty }
    }

    fn set(&self, member: impl Fn(&Event) -> bool) -> Set {
        let bits = self.events.iter().enumerate().filter(|(_, event)| member(event));
        bits.fold(0, |set, (index, _)| set | 1 << index)
    }
}

/// What the models have in common, computed once per graph.
pub(crate) struct Derived<'g> {
    graph: &'g Graph,
    size: usize,
    /// `(po ∪ rf)⁺`.
    pub(crate) porf: Relation,
    fr: Relation,
    eco: Relation,
    sw: Relation,
    /// `(po ∪ sw)⁺`.
    pub(crate) hb: Relation,
    fences: Set,
    updates: Set,
    seq_cst: Set,
}

impl<'g> Derived<'g> {
    pub(crate) fn of(graph: &'g Graph) -> Derived<'g> {
        let size = graph.events.len();
        let porf = graph.po.or(&graph.rf).closure();
        let fr = graph.rf.inverse().then(&graph.mo).minus(&Relation::identity(size, Set::MAX));
        let eco = graph.rf.or(&graph.mo).or(&fr).closure();
        let sw = synchronizes_with(graph);
        let hb = graph.po.or(&sw).closure();
        let fences = graph.set(|event| event.kind == Kind::Fence);
        let updates = graph.set(|event| event.kind == Kind::Update);
        let seq_cst = graph.set(|event| event.mode == Mode::SeqCst);
        Derived { graph, size, porf, fr, eco, sw, hb, fences, updates, seq_cst }
    }

    /// Whether `model` accepts the graph.
    pub(crate) fn consistent(&self, model: Model) -> bool {
        match model {
            Model::Sc => self.graph.po.or(&self.graph.rf).or(&self.graph.mo).or(&self.fr).acyclic(),
            Model::Tso => self.tso(),
            Model::Ra => self.coherent(&self.porf),
            Model::Rc11 => self.coherent(&self.hb) && self.partial_sc(false),
            Model::Rc11g => self.coherent(&self.hb) && self.partial_sc(true),
            Model::Cpp20 => self.coherent(&self.hb) && self.total_sc(),
        }
    }

    /// Whether two accesses race: different threads, one a write, one plain, unordered by `hb`.
    pub(crate) fn racy(&self, model: Model) -> bool {
        let Graph { events, threads, same_place, .. } = self.graph;
        let hb = match model {
            Model::Sc | Model::Tso | Model::Ra => &self.porf,
            Model::Rc11 | Model::Rc11g | Model::Cpp20 => &self.hb,
        };
        let plain = |event: usize| events[event].mode == Mode::Plain;
        let races = |a: usize, b: usize| {
            same_place.has(a, b)
                && threads[a] != threads[b]
                && threads[a] != INIT
                && threads[b] != INIT
                && (events[a].writes() || events[b].writes())
                && (plain(a) || plain(b))
                && !hb.has(a, b)
                && !hb.has(b, a)
        };
        (0..self.size).any(|a| (0..a).any(|b| races(a, b)))
    }

    fn coherent(&self, hb: &Relation) -> bool {
        self.porf.irreflexive() && hb.irreflexive() && hb.then(&self.eco).irreflexive()
    }

    fn tso(&self) -> bool {
        let Graph { events, threads, po, same_place, rf, mo, .. } = self.graph;
        if !po.and(same_place).or(rf).or(mo).or(&self.fr).acyclic() {
            return false;
        }
        let (mut ppo, mut rfe) = (Relation::empty(self.size), Relation::empty(self.size));
        for a in 0..self.size {
            for b in 0..self.size {
                let (first, second) = (&events[a], &events[b]);
                let kept = if first.kind == Kind::Fence || second.kind == Kind::Fence {
                    full_fence(first) || full_fence(second)
                } else {
                    threads[a] == INIT || first.kind != Kind::Write || second.kind != Kind::Read
                };
                if po.has(a, b) && kept {
                    ppo.add(a, b);
                }
                if rf.has(a, b) && threads[a] != threads[b] {
                    rfe.add(a, b);
                }
            }
        }
        ppo.or(&rfe).or(mo).or(&self.fr).acyclic()
    }

    /// `([Esc] ∪ [Fsc];hb?)` and `([Esc] ∪ hb?;[Fsc])`.
    fn sc_ends(&self) -> (Relation, Relation) {
        let accesses = Relation::identity(self.size, self.seq_cst & !self.fences);
        let fences = self.seq_cst & self.fences;
        let hb = self.hb.optional();
        (accesses.or(&hb.from(fences)), accesses.or(&hb.to(fences)))
    }

    /// `acyclic(psc)`. GenMC drops the `≠loc` filters and lets a `po` step start or end inside an update.
    fn partial_sc(&self, genmc: bool) -> bool {
        let Graph { po, same_place, mo, .. } = self.graph;
        let hb = &self.hb;
        let step =
            if genmc { po.or(&Relation::identity(self.size, self.updates)) } else { po.minus(same_place) };
        let scb = po.or(&step.then(hb).then(&step)).or(&hb.and(same_place)).or(mo).or(&self.fr);
        let (left, right) = self.sc_ends();
        let base = left.then(&scb).then(&right);
        let fences = self.seq_cst & self.fences;
        let fence = hb.or(&hb.then(&self.eco).then(hb)).from(fences).to(fences);
        base.or(&fence).acyclic()
    }

    /// A total order of the SC events exists that contains strongly-happens-before and
    /// coherence-ordered-before.
    fn total_sc(&self) -> bool {
        let po = &self.graph.po;
        let accesses = self.seq_cst & !self.fences;
        let sw = self.sw.from(accesses).to(accesses);
        let strongly = po.or(&sw).or(&po.then(&self.hb).then(po)).closure();
        let (left, right) = self.sc_ends();
        let order = strongly.from(self.seq_cst).to(self.seq_cst);
        order.or(&left.then(&self.eco).then(&right)).acyclic()
    }
}

fn full_fence(event: &Event) -> bool {
    event.kind == Kind::Update || (event.kind == Kind::Fence && event.mode == Mode::SeqCst)
}

/// `[E≥rel] ; ([F];po)? ; rs ; rf ; [R≥rlx] ; (po;[F])? ; [E≥acq]` with `rs = [W≥rlx] ; (rf;[U])*`.
fn synchronizes_with(graph: &Graph) -> Relation {
    let size = graph.events.len();
    let fence = |event: &Event| event.kind == Kind::Fence;
    let atomic_writes = graph.set(|event| event.writes() && event.mode != Mode::Plain);
    let atomic_reads = graph.set(|event| event.reads() && event.mode != Mode::Plain);
    let release_writes = graph.set(|event| event.writes() && event.mode.releases());
    let acquire_reads = graph.set(|event| event.reads() && event.mode.acquires());
    let release_fences = graph.set(|event| fence(event) && event.mode.releases());
    let acquire_fences = graph.set(|event| fence(event) && event.mode.acquires());
    let updates = graph.set(|event| event.kind == Kind::Update);

    let sequence = graph.rf.to(updates).closure().optional();
    let head = Relation::identity(size, release_writes).or(&graph.po.from(release_fences).to(atomic_writes));
    let tail = Relation::identity(size, acquire_reads).or(&graph.po.from(atomic_reads).to(acquire_fences));
    head.then(&sequence).then(&graph.rf.to(atomic_reads)).then(&tail)
}
