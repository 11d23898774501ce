//! `greybox`: a fuzzer whose inputs are abstract schedules.
//!
//! An abstract schedule is a set of wishes: the read at this place in the source is to see a write from
//! that place, or is not to. A run tries to meet the wishes: a read is put off while the write that it
//! is to see is about to happen, that write goes first, and of the writes that the read may see the
//! wished one is taken. What no wish speaks of is decided as by `pos`. A run that shows a reads-from
//! pair which is new, or a set of pairs which is, adds its wishes to the corpus. The next run changes wishes of
//! an entry of the corpus, sooner of one whose set of pairs has been seen less often.
//! From Wolff, Shi, Duck, Mathur and Roychoudhury, "Greybox fuzzing for concurrency testing" (ASPLOS 2024).

use unpick_core::coverage::{Coverage, site_of};
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Kind, Op, Rmw, Site, ThreadId};
use unpick_core::strategy::Ready;

use super::pos::Priorities;
use crate::sample::{Draw, Policy};

/// Entries of the corpus at most; then new ones replace old ones.
const MOST_ENTRIES: usize = 1024;

/// Wishes of an entry at most.
const MOST_WISHES: usize = 8;

/// For so many steps wishes are heeded, and for so many not, in turns: nobody waits for ever.
const HEEDED: u64 = 4096;

/// How often an entry is drawn before any is taken.
const TRIES: usize = 16;

/// That a read sees a write, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    write: Site,
    read: Site,
    met: bool,
}

/// An abstract schedule, and how often its set of pairs has been seen.
#[derive(Clone, Debug, Default)]
struct Entry {
    wishes: Vec<Wish>,
    combination: u64,
}

/// The policy.
#[derive(Debug, Default)]
pub(crate) struct Greybox {
    corpus: Vec<Entry>,
    wishes: Vec<Wish>,
    priorities: Priorities,
    fitting: Vec<usize>,
    kept: usize,
    /// Steps of this run.
    steps: u64,
}

impl Greybox {
    /// An entry of the corpus, sooner one that has been seen less often.
    fn draw_entry(&self, coverage: &Coverage, draw: &mut Draw) -> Option<usize> {
        if self.corpus.is_empty() {
            return None;
        }
        let mut index = 0;
        for _ in 0..TRIES {
            index = draw.index(self.corpus.len());
            let seen = coverage.seen(self.corpus[index].combination).max(1);
            if draw.below(seen) == 0 {
                break;
            }
        }
        Some(index)
    }

    /// Changes the wishes.
    fn mutate(&mut self, coverage: &Coverage, draw: &mut Draw) {
        let known = coverage.known();
        if known.is_empty() {
            return;
        }
        let new = |draw: &mut Draw| {
            let (write, read) = known[draw.index(known.len())];
            // Writes and reads of pairs that were never seen together are tried as well.
            let write = if draw.below(4) == 0 { known[draw.index(known.len())].0 } else { write };
            Wish { write, read, met: draw.below(4) != 0 }
        };
        let any = (!self.wishes.is_empty()).then(|| draw.index(self.wishes.len().max(1)));
        match (draw.below(5), any) {
            (0, Some(index)) => {
                self.wishes.swap_remove(index);
            }
            (1, Some(index)) => self.wishes[index].met ^= true,
            (2, Some(index)) => self.wishes[index] = new(draw),
            (3, Some(index)) if !self.corpus.is_empty() => {
                let other = &self.corpus[draw.index(self.corpus.len())].wishes;
                self.wishes.truncate(index);
                self.wishes.extend(&other[other.len().min(index)..]);
            }
            _ => {
                let wish = new(draw);
                self.wishes.push(wish);
            }
        }
        self.wishes.truncate(MOST_WISHES);
    }

    /// How much the wishes want an op to take place now: 0 not yet, 1 they do not say, 2 soon.
    fn urgency(&self, graph: &Graph, ready: &Ready, thread: ThreadId, op: &Op) -> u8 {
        let mut urgency = 1;
        let reads = |op: &Op, wish: &Wish| op.kind == Kind::Read && op.site == wish.read;
        let writes =
            |op: &Op, wish: &Wish| (op.kind == Kind::Write || op.rmw != Rmw::None) && op.site == wish.write;
        let mut others = ready.threads().filter(|&other| other != thread).filter_map(|other| ready.op(other));
        for wish in &self.wishes {
            if reads(op, wish) {
                let there = site_of(graph, graph.newest(op.addr)) == wish.write;
                if wish.met
                    && !there
                    && others.clone().any(|other| other.addr == op.addr && writes(other, wish))
                {
                    return 0;
                }
                if !wish.met
                    && there
                    && others.clone().any(|other| other.addr == op.addr && other.kind != Kind::Choice)
                {
                    return 0;
                }
            }
            if wish.met && writes(op, wish) && others.any(|other| other.addr == op.addr && reads(other, wish))
            {
                urgency = 2;
            }
        }
        urgency
    }
}

impl Policy for Greybox {
    const CHOOSES: bool = true;

    fn name(&self) -> &'static str {
        "greybox"
    }

    fn begin(&mut self, coverage: &Coverage, draw: &mut Draw) {
        self.priorities.clear();
        self.wishes.clear();
        self.steps = 0;
        if let Some(index) = self.draw_entry(coverage, draw) {
            self.wishes.extend(&self.corpus[index].wishes);
            for _ in 0..=draw.below(2) {
                self.mutate(coverage, draw);
            }
        }
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        let mut best = (0, 0, ThreadId::MAIN);
        let heeds = !self.wishes.is_empty() && (self.steps / HEEDED).is_multiple_of(2);
        self.steps += 1;
        for thread in ready.others.iter().chain(ready.reads.iter()) {
            let urgency = match (heeds, ready.op(thread)) {
                (true, Some(op)) => self.urgency(graph, ready, thread, op),
                _ => 1,
            };
            best = best.max((urgency, self.priorities.of(thread, draw), thread));
        }
        self.priorities.taken(best.2, ready);
        best.2
    }

    fn choose(
        &mut self,
        graph: &Graph,
        read: EventId,
        sources: &[EventId],
        draw: &mut Draw,
    ) -> Option<usize> {
        let event = graph.event(read);
        let wishes = self.wishes.iter().filter(|wish| wish.read == event.site);
        self.fitting.clear();
        if wishes.clone().next().is_some() {
            let fits = |source: EventId| {
                let site = site_of(graph, source);
                let (mut wanted, mut unwanted) = (false, false);
                for wish in wishes.clone().filter(|wish| wish.write == site) {
                    wanted |= wish.met;
                    unwanted |= !wish.met;
                }
                wanted || (!unwanted && wishes.clone().all(|wish| !wish.met))
            };
            self.fitting.extend((0..sources.len()).filter(|&index| fits(sources[index])));
        }
        if !self.fitting.is_empty() && draw.below(8) != 0 {
            return Some(self.fitting[draw.index(self.fitting.len())]);
        }
        draw.coin().then(|| sources.len() - 1)
    }

    fn end(&mut self, _: &Graph, coverage: &Coverage, new: bool, seen: u64) {
        if !new && seen != 1 {
            return;
        }
        let entry = Entry { wishes: self.wishes.clone(), combination: coverage.last_combination() };
        if self.corpus.len() < MOST_ENTRIES {
            self.corpus.push(entry);
        } else {
            self.corpus[self.kept % MOST_ENTRIES] = entry;
        }
        self.kept += 1;
    }
}
