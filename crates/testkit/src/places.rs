//! One place at a time: every `mo` and `rf` that the events at a place can have.
//!
//! All models demand, at each place, `acyclic(po|loc ∪ rf ∪ mo ∪ fr)` and atomic updates, so what
//! fails here fails everywhere. The rule: an update directly follows, in `mo`, the write it reads.
//! How places hang together, the models decide.

use crate::axioms::Graph;
use crate::key::Kind;
use crate::oracle::TooLarge;
use crate::relation::Relation;

/// A coherent choice at one place.
pub(crate) struct Solution {
    /// The writes in modification order, the initial one first.
    pub(crate) order: Vec<usize>,
    /// Each read with the write it reads from.
    pub(crate) sources: Vec<(usize, usize)>,
}

/// All coherent choices for `place`. `taken` demands that the last write is a lock being taken.
pub(crate) fn solutions(
    graph: &Graph,
    place: u16,
    taken: bool,
    budget: &mut u64,
) -> Result<Vec<Solution>, TooLarge> {
    let at_place =
        |event: &usize| graph.events[*event].kind != Kind::Fence && graph.events[*event].place == place;
    let here: Vec<usize> = (0..graph.events.len()).filter(at_place).collect();
    let writes: Vec<usize> = here.iter().copied().filter(|&event| graph.events[event].writes()).collect();
    let reads = here.iter().copied().filter(|&event| graph.events[event].kind == Kind::Read).collect();
    let mut search = Search { graph, here, reads, taken, budget, found: Vec::new() };
    search.orders(&mut vec![writes[0]], &writes[1..])?;
    Ok(search.found)
}

struct Search<'g> {
    graph: &'g Graph,
    here: Vec<usize>,
    /// Reads that are not part of an update.
    reads: Vec<usize>,
    taken: bool,
    budget: &'g mut u64,
    found: Vec<Solution>,
}

impl Search<'_> {
    /// Extends `order` by the `left` writes in every way that keeps `po` and fits the updates.
    fn orders(&mut self, order: &mut Vec<usize>, left: &[usize]) -> Result<(), TooLarge> {
        *self.budget = self.budget.checked_sub(1).ok_or(TooLarge)?;
        let events = &self.graph.events;
        let last = *order.last().expect("the initial write is always there");
        if left.is_empty() {
            if !self.taken || events[last].written == 1 {
                let updates = order.windows(2).filter(|pair| events[pair[1]].kind == Kind::Update);
                let mut sources = updates.map(|pair| (pair[1], pair[0])).collect();
                self.sources(order, &mut sources, 0)?;
            }
            return Ok(());
        }
        for (index, &write) in left.iter().enumerate() {
            let event = &self.graph.events[write];
            let reads_last = event.kind != Kind::Update || event.read == self.graph.events[last].written;
            let first = !left.iter().any(|&other| self.graph.po.has(other, write));
            if reads_last && first {
                let mut rest = left.to_vec();
                rest.remove(index);
                order.push(write);
                self.orders(order, &rest)?;
                order.pop();
            }
        }
        Ok(())
    }

    /// Gives the reads from `next` on a source each, and keeps what is coherent.
    fn sources(
        &mut self,
        order: &[usize],
        sources: &mut Vec<(usize, usize)>,
        next: usize,
    ) -> Result<(), TooLarge> {
        *self.budget = self.budget.checked_sub(1).ok_or(TooLarge)?;
        let Some(&read) = self.reads.get(next) else {
            if self.coherent(order, sources) {
                self.found.push(Solution { order: order.to_vec(), sources: sources.clone() });
            }
            return Ok(());
        };
        let po = &self.graph.po;
        for (index, &write) in order.iter().enumerate() {
            let overwritten = order[index + 1..].iter().any(|&later| po.has(later, read));
            let value_fits = self.graph.events[write].written == self.graph.events[read].read;
            if value_fits && !overwritten && !po.has(read, write) {
                sources.push((read, write));
                self.sources(order, sources, next + 1)?;
                sources.pop();
            }
        }
        Ok(())
    }

    fn coherent(&self, order: &[usize], sources: &[(usize, usize)]) -> bool {
        let mut union = Relation::empty(self.graph.events.len());
        for &a in &self.here {
            for &b in &self.here {
                if self.graph.po.has(a, b) {
                    union.add(a, b);
                }
            }
        }
        for (index, &write) in order.iter().enumerate() {
            order[index + 1..].iter().for_each(|&later| union.add(write, later));
        }
        for &(read, write) in sources {
            union.add(write, read);
            let later = order.iter().skip_while(|&&other| other != write).skip(1);
            later.filter(|&&other| other != read).for_each(|&other| union.add(read, other));
        }
        union.acyclic()
    }
}
