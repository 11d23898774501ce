//! Vector clocks, in one dense pool.
//!
//! A clock says of each thread how many of its events are known; event `e` is known when
//! `clock[e.thread] > e.index`. Each event owns a slot of three clocks:
//!
//! - `hb`: the events that happen before it, and itself;
//! - `porf`: the events that are before it in `(po ∪ rf)⁺`, and itself;
//! - `published`: what an acquiring reader of the write learns (its release view).
//!
//! The clocks of a mere read leave out what its own `rf` brings: that shows in the thread's next
//! event. So pointing a read at another write never changes its clocks, and the pool is a
//! stack that all graphs of a search share. A successful read-modify-write is also a write, whose
//! `porf` must be whole; it gets a new slot when a copy of the graph points it elsewhere.
//!
//! Clocks are as wide as the program has threads, in steps of [`LANES`]; a wider program
//! widens the pool.

use crate::event::EventId;

/// Threads per step of width: four SSE registers or so, and no remainder loop.
pub const LANES: usize = 8;

/// One count per thread.
pub type Clock = [u32];

/// Whether `clock` knows `event`; the initial write is always known.
#[inline(always)]
pub fn knows(clock: &Clock, event: EventId) -> bool {
    match clock.get(event.thread.index()) {
        Some(&count) => event.index < count,
        None => event.is_init(),
    }
}

/// The larger of two counts. Counts stay below 2^31, and baseline x86-64 compares signed lanes only.
#[inline(always)]
fn later(a: u32, b: u32) -> u32 {
    (a as i32).max(b as i32) as u32
}

#[inline(always)]
fn add(clock: &mut [u32; LANES], other: &[u32; LANES]) {
    for lane in 0..LANES {
        clock[lane] = later(clock[lane], other[lane]);
    }
}

/// Adds the counts of `more` to `clock`.
#[inline(always)]
fn count(clock: &mut [u32; LANES], more: &[u32; LANES]) {
    for lane in 0..LANES {
        clock[lane] = clock[lane].wrapping_add(more[lane]);
    }
}

/// Adds what `other` knows to `clock`.
#[inline(always)]
pub fn join(clock: &mut Clock, other: &Clock) {
    let (clocks, _) = clock.as_chunks_mut::<LANES>();
    let (others, _) = other.as_chunks::<LANES>();
    for i in 0..clocks.len().min(others.len()) {
        add(&mut clocks[i], &others[i]);
    }
}

/// For each of the first threads, a clock that knows of one of its events, and of nothing else.
static FIRST: [[u32; LANES]; LANES] = {
    let mut first = [[0; LANES]; LANES];
    let mut thread = 0;
    while thread < LANES {
        first[thread][thread] = 1;
        thread += 1;
    }
    first
};

/// Which of a slot's clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Part {
    /// Happens before.
    Hb = 0,
    /// Before in program order and reads-from.
    Porf = 1,
    /// What an acquirer learns.
    Published = 2,
}

const PARTS: usize = 3;

/// Slots to begin with: many checks need few, and pages that are never touched cost nothing.
const FEW: usize = 32;

/// The pool.
#[derive(Debug)]
pub struct Clocks {
    /// A slot each, or parts of one if clocks are wider than one step.
    data: Vec<[[u32; LANES]; PARTS]>,
    /// Steps of width of one clock.
    steps: usize,
    top: usize,
}

impl Default for Clocks {
    fn default() -> Clocks {
        Clocks::new()
    }
}

impl Clocks {
    /// An empty pool for programs of few threads.
    pub fn new() -> Clocks {
        Clocks { data: Vec::new(), steps: 1, top: 0 }
    }

    /// How many threads a clock can hold.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.steps * LANES
    }

    /// How many slots are in use.
    #[inline(always)]
    pub fn top(&self) -> u32 {
        self.top as u32
    }

    /// Gives back the slots from `top` on.
    #[inline(always)]
    pub fn truncate(&mut self, top: u32) {
        debug_assert!(top as usize <= self.top);
        self.top = top as usize;
    }

    /// Where a clock starts.
    #[inline(always)]
    fn start(&self, slot: u32, part: Part) -> usize {
        (slot as usize * PARTS + part as usize) * self.steps
    }

    /// A clock of a slot.
    #[inline(always)]
    pub fn get(&self, slot: u32, part: Part) -> &Clock {
        let start = self.start(slot, part);
        self.data.as_flattened()[start..start + self.steps].as_flattened()
    }

    /// A clock of a slot, to change.
    #[inline(always)]
    pub fn get_mut(&mut self, slot: u32, part: Part) -> &mut Clock {
        let start = self.start(slot, part);
        self.data.as_flattened_mut()[start..start + self.steps].as_flattened_mut()
    }

    /// A new slot, with stale contents.
    #[inline(always)]
    pub fn push(&mut self) -> u32 {
        let slot = self.top;
        self.top += 1;
        if self.top * self.steps > self.data.len() {
            self.grow();
        }
        slot as u32
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let slots = (self.top * 2).max(FEW);
        self.data.resize(slots * self.steps, [[0; LANES]; PARTS]);
    }

    /// Makes this pool a copy of another.
    pub fn copy_from(&mut self, other: &Clocks) {
        (self.steps, self.top) = (other.steps, other.top);
        let used = self.top * self.steps;
        if self.data.len() < used {
            self.data.resize(other.data.len(), [[0; LANES]; PARTS]);
        }
        self.data[..used].copy_from_slice(&other.data[..used]);
    }

    /// Copies a clock from one slot to another.
    #[inline(always)]
    pub fn copy(&mut self, from: (u32, Part), to: (u32, Part)) {
        if self.steps == 1 {
            self.data[to.0 as usize][to.1 as usize] = self.data[from.0 as usize][from.1 as usize];
            return;
        }
        let (source, target) = (self.start(from.0, from.1), self.start(to.0, to.1));
        let data = self.data.as_flattened_mut();
        for step in 0..self.steps {
            data[target + step] = data[source + step];
        }
    }

    /// Makes `hb` of a slot, and `porf` if that is kept: what those of `from` know, what the event learns
    /// from `source` (in `hb` only if it acquires), and one more event of a thread.
    #[inline(always)]
    pub fn follow(&mut self, from: u32, source: Option<(u32, bool)>, to: u32, porf: bool, thread: usize) {
        if self.steps > 1 {
            return self.follow_wide(from, source, to, porf, thread);
        }
        // To set one count by itself would hold up whoever reads the clock next: processors are slow to read
        // together what was written in parts.
        let one = &FIRST[thread];
        let data = &mut self.data[..];
        let mut clock = data[from as usize][Part::Hb as usize];
        if let Some((source, true)) = source {
            add(&mut clock, &data[source as usize][Part::Published as usize]);
        }
        count(&mut clock, one);
        data[to as usize][Part::Hb as usize] = clock;
        if porf {
            let mut clock = data[from as usize][Part::Porf as usize];
            if let Some((source, _)) = source {
                add(&mut clock, &data[source as usize][Part::Porf as usize]);
            }
            count(&mut clock, one);
            data[to as usize][Part::Porf as usize] = clock;
        }
    }

    #[inline(never)]
    fn follow_wide(&mut self, from: u32, source: Option<(u32, bool)>, to: u32, porf: bool, thread: usize) {
        let published = source.filter(|&(_, acquires)| acquires).map(|(source, _)| (source, Part::Published));
        self.follow_part(Part::Hb, from, published, to, thread);
        if porf {
            let before = source.map(|(source, _)| (source, Part::Porf));
            self.follow_part(Part::Porf, from, before, to, thread);
        }
    }

    /// Makes one clock of a slot, as [`Clocks::follow`] does.
    #[inline(always)]
    fn follow_part(&mut self, part: Part, from: u32, lesson: Option<(u32, Part)>, to: u32, thread: usize) {
        let (old, new) = (self.start(from, part), self.start(to, part));
        let learnt = lesson.map(|(source, part)| self.start(source, part));
        let data = self.data.as_flattened_mut();
        for step in 0..self.steps {
            let mut clock = data[old + step];
            if let Some(learnt) = learnt {
                add(&mut clock, &data[learnt + step]);
            }
            if step == thread / LANES {
                count(&mut clock, &FIRST[thread % LANES]);
            }
            data[new + step] = clock;
        }
    }

    /// Makes a clock that knows of one event of a thread only.
    pub fn start_at(&mut self, slot: u32, part: Part, thread: usize) {
        self.clear(slot, part);
        match FIRST.get(thread) {
            Some(first) => self.get_mut(slot, part)[..LANES].copy_from_slice(first),
            None => self.get_mut(slot, part)[thread] = 1,
        }
    }

    /// Sets a clock to nothing known.
    #[inline(always)]
    pub fn clear(&mut self, slot: u32, part: Part) {
        if self.steps == 1 {
            self.data[slot as usize][part as usize] = [0; LANES];
            return;
        }
        let start = self.start(slot, part);
        self.data.as_flattened_mut()[start..start + self.steps].fill([0; LANES]);
    }

    /// Adds the clock `from` to the clock `to`.
    #[inline(always)]
    pub fn join(&mut self, from: (u32, Part), to: (u32, Part)) {
        if self.steps == 1 {
            let other = self.data[from.0 as usize][from.1 as usize];
            add(&mut self.data[to.0 as usize][to.1 as usize], &other);
            return;
        }
        let (source, target) = (self.start(from.0, from.1), self.start(to.0, to.1));
        let data = self.data.as_flattened_mut();
        for step in 0..self.steps {
            let other = data[source + step];
            add(&mut data[target + step], &other);
        }
    }

    /// Makes room for `threads` threads, keeping all clocks.
    pub fn widen(&mut self, threads: usize) {
        if threads <= self.width() {
            return;
        }
        let steps = threads.next_power_of_two() / LANES;
        let mut data = vec![[[0; LANES]; PARTS]; self.data.len() / self.steps * steps];
        let clocks = self.data.as_flattened().chunks_exact(self.steps);
        for (old, new) in clocks.zip(data.as_flattened_mut().chunks_exact_mut(steps)) {
            new[..self.steps].copy_from_slice(old);
        }
        self.data = data;
        self.steps = steps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::ThreadId;

    #[test]
    fn widening_keeps_what_is_known() {
        let mut clocks = Clocks::new();
        let (a, b) = (clocks.push(), clocks.push());
        clocks.clear(a, Part::Hb);
        clocks.clear(b, Part::Hb);
        clocks.get_mut(a, Part::Hb)[3] = 7;
        clocks.widen(20);
        assert_eq!(clocks.width(), 32);
        clocks.join((a, Part::Hb), (b, Part::Hb));
        assert!(knows(clocks.get(b, Part::Hb), EventId::new(ThreadId(3), 6)));
        assert!(!knows(clocks.get(b, Part::Hb), EventId::new(ThreadId(3), 7)));
        assert!(knows(clocks.get(b, Part::Hb), EventId::INIT));
        assert!(!knows(clocks.get(b, Part::Hb), EventId::new(ThreadId(12), 0)));
    }
}
