//! Where the events of an execution stand among the steps that tell it.
//!
//! Each event is a step, in the order of the graph. Other steps are put in between: plain accesses, frees, labels.
//! Then the steps behind them move on, and so do the numbers by which texts call them.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::Addr;
use unpick_core::violation::Point;

/// The step of each event.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    graph: &'a Graph,
    /// By stamp.
    of: Vec<usize>,
}

impl<'a> Steps<'a> {
    /// Steps of no event yet.
    pub fn new(graph: &'a Graph) -> Steps<'a> {
        Steps { graph, of: Vec::with_capacity(graph.len()) }
    }

    /// The graph.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Says which step the next event of the order is.
    pub fn push(&mut self, step: usize) {
        self.of.push(step);
    }

    /// The step of an event.
    pub fn of(&self, id: EventId) -> usize {
        self.of[self.graph.event(id).stamp as usize]
    }

    /// Makes room for a step that is no event, among `count` steps: after the events that came before it, and
    /// before those that came after. Returns its place.
    pub fn make_room(&mut self, point: Point, count: usize) -> usize {
        let next = EventId { thread: point.thread, index: point.index };
        let at = match (next.index as usize) < self.graph.thread_len(point.thread) {
            true => self.of(next),
            false => count,
        };
        self.of.iter_mut().for_each(|step| shift(step, at));
        at
    }

    /// The event at a point, if it accesses memory there.
    pub fn event_at(&self, point: Point) -> Option<EventId> {
        let event = self.graph.thread(point.thread).get(point.index as usize)?;
        (event.site == point.site && event.addr != Addr::NONE)
            .then_some(EventId { thread: point.thread, index: point.index })
    }
}

/// Moves a step on, if another one has come before it, at `at`.
pub fn shift(step: &mut usize, at: usize) {
    *step += usize::from(*step >= at);
}

/// The same in a text that calls steps by their numbers, as in `#3`.
pub fn renumber(text: &mut String, at: usize) {
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
