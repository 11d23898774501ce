//! The steps that tell an execution, whatever places are in it.
//!
//! Each event is a step, in the order of the graph. Other steps are put in between: plain accesses, frees, labels.
//! Then the steps behind them move on, and so do the numbers by which texts call them.

use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Rmw, ThreadId};
use unpick_core::trace::{Action, Seen, Source, Step};
use unpick_core::violation::Point;

use crate::blame;

/// The steps of an execution.
#[derive(Clone, Debug)]
pub struct Steps<'a, P> {
    graph: &'a Graph,
    /// The step of each event, by stamp.
    of: Vec<usize>,
    all: Vec<Step<P>>,
}

impl<'a, P> Steps<'a, P> {
    /// Steps of no event yet.
    pub fn new(graph: &'a Graph) -> Steps<'a, P> {
        Steps { graph, of: Vec::with_capacity(graph.len()), all: Vec::new() }
    }

    /// The graph.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// All of them.
    pub fn into_all(self) -> Vec<Step<P>> {
        self.all
    }

    /// Adds the next event of the order.
    pub fn add(&mut self, id: EventId, place: Option<P>, action: Action, deciding: bool) {
        self.of.push(self.all.len());
        self.all.push(Step { thread: id.thread.index(), place, action, deciding });
    }

    /// Adds a step at the end that is no event.
    pub fn push(&mut self, thread: ThreadId, place: Option<P>, action: Action, deciding: bool) {
        self.all.push(Step { thread: thread.index(), place, action, deciding });
    }

    /// Adds a step that is no event: after the events that came before it, and before those that came after.
    pub fn insert(&mut self, point: Point, place: Option<P>, action: Action, deciding: bool) {
        let next = EventId { thread: point.thread, index: point.index };
        let at = match (next.index as usize) < self.graph.thread_len(point.thread) {
            true => self.of(next),
            false => self.all.len(),
        };
        self.of.iter_mut().for_each(|step| shift(step, at));
        self.all.iter_mut().for_each(|step| make_room(&mut step.action, at));
        self.all.insert(at, Step { thread: point.thread.index(), place, action, deciding });
    }

    /// The step of an event.
    pub fn of(&self, id: EventId) -> usize {
        self.of[self.graph.event(id).stamp as usize]
    }

    /// Marks the step of an event as one that the violation depends on.
    pub fn mark(&mut self, id: EventId) {
        let step = self.of(id);
        self.all[step].deciding = true;
    }

    /// Marks what a thread has done from an event on: it is what it repeats for ever.
    pub fn mark_since(&mut self, thread: ThreadId, from: u32) {
        for index in from as usize..self.graph.thread_len(thread) {
            self.mark(EventId::new(thread, index));
        }
    }

    /// Marks the reads and writes between which synchronisation is missing; if nothing is marked but what `fails`, those by
    /// which the thread that failed has learnt of others.
    pub fn mark_by_blame(&mut self, thread: ThreadId, fails: impl Fn(&Action) -> bool) {
        let mut marked = blame::unsynchronised(self.graph);
        if self.all.iter().all(|step| !step.deciding || fails(&step.action)) {
            marked.extend(blame::communications(self.graph, thread));
        }
        marked.into_iter().for_each(|id| self.mark(id));
    }

    /// What an event did, and whether it is out of the ordinary.
    pub fn action(&self, id: EventId) -> (Action, bool) {
        let event = self.graph.event(id);
        let (name, object, mode) = (event.name().into(), event.addr.index(), event.effective_mode());
        match event.kind {
            Kind::Read => {
                let seen = self.seen(id, event);
                let stale = seen.stale;
                if event.is_update() {
                    return (Action::Update { name, object, mode, seen, value: event.value }, stale);
                }
                let cas = matches!(event.rmw, Rmw::Cas | Rmw::WeakCas);
                (Action::Read { name, object, mode, seen, expected: cas.then_some(event.expected) }, stale)
            }
            Kind::Write => {
                let before = blame::overtaken_write(self.graph, id).map(|write| self.of(write));
                (Action::Write { name, object, mode, value: event.value, before }, before.is_some())
            }
            Kind::Fence => (Action::Fence { mode: event.mode }, false),
            Kind::Spawn => (Action::Spawn { thread: event.value as usize }, false),
            Kind::Join => (Action::Join { thread: event.value as usize }, false),
            Kind::Finish => (Action::End, false),
            Kind::Choice if event.is_timeout() => (Action::Label { text: event.name().to_string() }, true),
            Kind::Choice => (Action::Choice { value: event.value, bound: event.expected }, event.value != 0),
        }
    }

    fn seen(&self, id: EventId, event: &Event) -> Seen {
        let newer = blame::newer_write(self.graph, id);
        Seen {
            value: self.graph.read_value(id),
            source: (!event.rf.is_init()).then(|| self.of(event.rf)).into(),
            stale: newer.is_some(),
            why: newer.map(|newer| blame::why(self, id, newer)),
        }
    }

    /// The event at a point, if it accesses memory there.
    pub fn event_at(&self, point: Point) -> Option<EventId> {
        let event = self.graph.thread(point.thread).get(point.index as usize)?;
        (event.site == point.site && event.addr != Addr::NONE)
            .then_some(EventId { thread: point.thread, index: point.index })
    }
}

/// Makes room for a step at `at` in what an action says about other steps.
fn make_room(action: &mut Action, at: usize) {
    match action {
        Action::Read { seen, .. } | Action::Update { seen, .. } => {
            if let Source::Step(step) = &mut seen.source {
                shift(step, at);
            }
            seen.why.iter_mut().for_each(|why| renumber(why, at));
        }
        Action::Write { before: Some(step), .. } | Action::Call { after: Some(step), .. } => shift(step, at),
        _ => {}
    }
}

/// Moves a step on, if another one has come before it, at `at`.
fn shift(step: &mut usize, at: usize) {
    *step += usize::from(*step >= at);
}

/// The same in a text that calls steps by their numbers, as in `#3`.
fn renumber(text: &mut String, at: usize) {
    let mut parts = text.split('#');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        let moved = number.parse::<usize>().map(|number| number + usize::from(number > at));
        out += &moved.map_or_else(|_| format!("#{part}"), |number| format!("#{number}{rest}"));
    }
    *text = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_behind_a_new_step_move_on() {
        let mut text = String::from("#2 acquires, but #3 that it saw, #x");
        renumber(&mut text, 2);
        assert_eq!(text, "#2 acquires, but #4 that it saw, #x");
    }
}
