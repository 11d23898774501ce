//! The trace so far: the steps that were taken, with what else could have been done before each.
//!
//! Happens-before is the transitive closure of program order, of conflicts on a place, and of one
//! step letting a thread go on; each step has a clock of it. For each place there are lists of the
//! steps that read and that wrote it. A step knows all that its clock counts, and after it has
//! accessed a place its thread knows the writes there (and the reads, if it wrote), so what a thread
//! does not know is at the end of the lists and is looked at once: over a whole trace, each step
//! costs time linear in the number of threads (van den Hooff, "Fast bug finding in
//! lock-free data structures with CB-DPOR", 2014, 4.3, keeps an index for each thread to the same effect).
//!
//! Nodes and their buffers are kept when they are left, so that nothing is allocated once they have
//! grown.

use unpick_core::op::ThreadId;
use unpick_core::thread_set::ThreadSet;

/// What a step does to one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) place: u32,
    pub(crate) writes: bool,
    /// Whether the place held a lock that was taken, before the step.
    pub(crate) taken: bool,
}

impl Access {
    /// Whether the order of the two matters.
    fn conflicts(self, other: Access) -> bool {
        self.place == other.place && (self.writes || other.writes)
    }
}

/// What a thread would do next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) accesses: [Access; 2],
    pub(crate) count: u8,
    /// Whether it waits while its place holds a lock that is taken.
    pub(crate) waits: bool,
    /// Whether it can be taken now.
    pub(crate) enabled: bool,
    /// Whether no other thread can tell when it is taken.
    pub(crate) silent: bool,
    /// Whether it reads and writes in one go, as locks do.
    pub(crate) synchronises: bool,
    /// In how many ways it can go.
    pub(crate) ways: u64,
    /// The step that started the thread, if this is its first.
    pub(crate) origin: Option<u32>,
    /// A thread that has ended before this step.
    pub(crate) joins: Option<ThreadId>,
}

impl Step {
    /// A step that touches nothing.
    pub(crate) fn silent() -> Step {
        Step { silent: true, enabled: true, ways: 1, ..Step::default() }
    }

    /// What a thread does that waits for something other than a lock.
    pub(crate) fn unknown() -> Step {
        Step { ways: 1, ..Step::default() }
    }

    /// A step that accesses a place.
    pub(crate) fn access(access: Access) -> Step {
        let accesses = [access, Access::default()];
        Step { accesses, count: 1, enabled: true, ways: 1, ..Step::default() }
    }

    /// The same with another access.
    #[cfg(test)]
    pub(crate) fn and(mut self, access: Access) -> Step {
        self.accesses[1] = access;
        self.count = 2;
        self
    }

    pub(crate) fn accesses(&self) -> &[Access] {
        &self.accesses[..self.count as usize]
    }

    /// The same, with every access taken for a write.
    pub(crate) fn writing(mut self) -> Step {
        self.accesses.iter_mut().for_each(|access| access.writes = true);
        self
    }

    /// The same, with no access taken for a write.
    fn reading(mut self) -> Step {
        self.accesses.iter_mut().for_each(|access| access.writes = false);
        self
    }

    /// Whether the order of the two matters.
    pub(crate) fn conflicts(&self, other: &Step) -> bool {
        self.accesses().iter().any(|a| other.accesses().iter().any(|&b| a.conflicts(b)))
    }
}

/// What each thread would do next.
pub(crate) trait Steps {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// The step of a thread, if it has one.
    fn step(&self, thread: ThreadId) -> Option<Step>;

    /// Whether no other thread can tell when the step of a thread that can go on is taken.
    fn is_silent(&self, thread: ThreadId) -> bool;
}

impl Steps for [Option<Step>] {
    fn threads(&self) -> usize {
        self.len()
    }

    fn step(&self, thread: ThreadId) -> Option<Step> {
        *self.get(thread.index())?
    }

    fn is_silent(&self, thread: ThreadId) -> bool {
        self.step(thread).is_some_and(|step| step.silent)
    }
}

/// A state on the way, and the step that is taken from there.
#[derive(Debug)]
pub(crate) struct Node {
    /// Threads that can go on.
    pub(crate) enabled: ThreadSet,
    /// Threads that are to be run from here.
    pub(crate) wanted: ThreadSet,
    /// Threads that have been run from here.
    pub(crate) done: ThreadSet,
    /// Threads that need not be run from here.
    pub(crate) sleep: ThreadSet,
    /// Those that slept on arrival.
    pub(crate) slept: ThreadSet,
    /// Whether a thread is to be interrupted here.
    pub(crate) marked: bool,
    /// Interruptions before.
    pub(crate) used: u32,
    /// The thread that moved last, silent steps aside.
    pub(crate) last: Option<ThreadId>,
    /// The thread that moves.
    pub(crate) thread: ThreadId,
    /// How many steps it had.
    pub(crate) index: u32,
    pub(crate) step: Step,
    /// Which of its ways the step goes.
    pub(crate) way: u64,
    pub(crate) clock: Vec<u32>,
    /// How many ways to go on from here are explored.
    pub(crate) finished: u32,
    /// What the search had cost when it came here.
    pub(crate) entered: u64,
    /// What the ways that are explored have cost.
    pub(crate) below: u64,
    /// Threads that the step has let go on.
    woke: ThreadSet,
}

impl Node {
    fn new() -> Node {
        Node {
            enabled: ThreadSet::new(),
            wanted: ThreadSet::new(),
            done: ThreadSet::new(),
            sleep: ThreadSet::new(),
            slept: ThreadSet::new(),
            marked: false,
            used: 0,
            last: None,
            thread: ThreadId::MAIN,
            index: 0,
            step: Step::silent(),
            way: 0,
            clock: Vec::new(),
            finished: 0,
            entered: 0,
            below: 0,
            woke: ThreadSet::new(),
        }
    }

    /// Whether the thread that moved last could go on.
    pub(crate) fn goes_on(&self) -> bool {
        self.last.is_some_and(|last| self.enabled.contains(last))
    }

    /// Whether running the thread interrupts another.
    pub(crate) fn interrupts(&self, thread: ThreadId) -> bool {
        self.goes_on() && self.last != Some(thread)
    }
}

/// The steps that accessed a place, in order.
#[derive(Debug, Default)]
struct Place {
    reads: Vec<u32>,
    writes: Vec<u32>,
}

/// The steps of a thread, and those that let it go on when it could not.
#[derive(Debug, Default)]
struct Line {
    steps: Vec<u32>,
    wakes: Vec<u32>,
}

/// The trace.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    nodes: Vec<Node>,
    len: usize,
    places: Vec<Place>,
    lines: Vec<Line>,
    /// What the thread of the newest step knew before it.
    pub(crate) before: Vec<u32>,
}

/// Whether someone with this clock knows the step `index` of the thread.
pub(crate) fn knows(clock: &[u32], thread: ThreadId, index: u32) -> bool {
    clock.get(thread.index()).is_some_and(|&count| count > index)
}

/// Joins a clock into one that may be shorter.
fn learn(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    clock.iter_mut().zip(other).for_each(|(own, &other)| *own = (*own).max(other));
}

impl Stack {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    pub(crate) fn node_mut(&mut self, at: usize) -> &mut Node {
        &mut self.nodes[at]
    }

    /// Threads that were ever seen.
    pub(crate) fn threads(&self) -> usize {
        self.lines.len()
    }

    /// The step of a thread that is its newest, by its place in the trace.
    pub(crate) fn newest(&self, thread: ThreadId) -> Option<usize> {
        self.lines.get(thread.index())?.steps.last().map(|&at| at as usize)
    }

    /// The place in the trace of a thread's step.
    pub(crate) fn position(&self, thread: ThreadId, index: u32) -> usize {
        self.lines[thread.index()].steps[index as usize] as usize
    }

    /// Makes room for so many threads.
    pub(crate) fn make_room(&mut self, threads: usize) {
        if self.lines.len() < threads {
            self.lines.resize_with(threads, Line::default);
        }
    }

    /// A new node at the end; its sets are those of an earlier use, except for what is set here.
    pub(crate) fn push(&mut self, enabled: &ThreadSet, threads: usize) -> usize {
        let at = self.len;
        if at == self.nodes.len() {
            self.nodes.push(Node::new());
        }
        self.make_room(threads);
        self.len += 1;
        let (earlier, rest) = self.nodes.split_at_mut(at);
        let node = &mut rest[0];
        node.enabled.clone_from(enabled);
        for set in [&mut node.wanted, &mut node.done, &mut node.sleep, &mut node.slept, &mut node.woke] {
            set.clear();
        }
        (node.marked, node.used, node.last, node.way) = (false, 0, None, 0);
        (node.finished, node.below) = (0, 0);
        if let Some(parent) = earlier.last_mut() {
            node.used = parent.used + u32::from(!parent.step.silent && parent.interrupts(parent.thread));
            node.last = if parent.step.silent { parent.last } else { Some(parent.thread) };
            for thread in enabled.iter() {
                let known = parent.enabled.contains(thread) || parent.woke.contains(thread);
                if thread != parent.thread && !known {
                    parent.woke.insert(thread);
                    self.lines[thread.index()].wakes.push(at as u32 - 1);
                }
            }
        }
        at
    }

    /// What a thread knows that stands before a step, into `before`.
    pub(crate) fn look(&mut self, thread: ThreadId, step: &Step) {
        let line = &self.lines[thread.index()];
        self.before.clear();
        let own = line.steps.last();
        // Whoever waits for a lock has a conflict with those who took it, not with who gave it back.
        let woken = line.wakes.last().filter(|&wake| !step.waits && own < Some(wake));
        let joined = step.joins.and_then(|child| self.newest(child)).map(|at| at as u32);
        let sources = [own.copied(), woken.copied(), joined, step.origin];
        for at in sources.into_iter().flatten() {
            learn(&mut self.before, &self.nodes[at as usize].clock);
        }
    }

    /// Takes the step that the last node says: `before` must hold what its thread knows.
    pub(crate) fn take(&mut self, step: Step) {
        let at = self.len - 1;
        let (earlier, rest) = self.nodes.split_at_mut(at);
        let node = &mut rest[0];
        // A way beyond the first is a failure without a reason, and so only a read.
        node.step = if !step.silent && node.way > 0 { step.reading() } else { step };
        let line = &mut self.lines[node.thread.index()];
        node.index = line.steps.len() as u32;
        line.steps.push(at as u32);
        node.clock.clear();
        node.clock.extend_from_slice(&self.before);
        for access in node.step.accesses() {
            if self.places.len() <= access.place as usize {
                self.places.resize_with(access.place as usize + 1, Place::default);
            }
            let place = &mut self.places[access.place as usize];
            let write = place.writes.last();
            if access.writes {
                let since = place.reads.iter().rev().take_while(|&read| write < Some(read));
                since.for_each(|&read| learn(&mut node.clock, &earlier[read as usize].clock));
            }
            if let Some(&write) = write {
                learn(&mut node.clock, &earlier[write as usize].clock);
            }
        }
        // Only now, since a step may access a place twice.
        for access in node.step.accesses() {
            let place = &mut self.places[access.place as usize];
            if access.writes { place.writes.push(at as u32) } else { place.reads.push(at as u32) }
        }
        let own = node.thread.index();
        if node.clock.len() <= own {
            node.clock.resize(own + 1, 0);
        }
        node.clock[own] = node.index + 1;
    }

    /// Takes back the step of the last node.
    pub(crate) fn undo(&mut self) {
        let node = &mut self.nodes[self.len - 1];
        for access in node.step.accesses() {
            let place = &mut self.places[access.place as usize];
            if access.writes {
                place.writes.pop()
            } else {
                place.reads.pop()
            };
        }
        self.lines[node.thread.index()].steps.pop();
        for thread in node.woke.iter() {
            self.lines[thread.index()].wakes.pop();
        }
        node.woke.clear();
    }

    /// Leaves the last node, whose step was taken back.
    pub(crate) fn pop(&mut self) {
        self.len -= 1;
    }

    /// Whether the step at a place in the trace is one of another thread that is not in `before`.
    fn is_news(&self, thread: ThreadId, at: u32) -> bool {
        let node = &self.nodes[at as usize];
        node.thread != thread && !knows(&self.before, node.thread, node.index)
    }

    /// Calls `found` for the steps, newest first, that conflict with a step of `thread` which knows
    /// `before`, and says whether it could be taken instead of them. It stops early when `found` says
    /// `false`.
    pub(crate) fn conflicts(
        &self,
        thread: ThreadId,
        step: &Step,
        mut found: impl FnMut(usize, bool) -> bool,
    ) {
        let mut found = |place: u32, at: u32| found(at as usize, self.is_open(step, place, at));
        for access in step.accesses() {
            let Some(place) = self.places.get(access.place as usize) else { continue };
            let mut writes = place.writes.iter().rev().copied().peekable();
            let mut reads = place.reads.iter().rev().copied().peekable();
            if !access.writes {
                reads = [].iter().rev().copied().peekable();
            }
            loop {
                let write = writes.peek().copied();
                let read = reads.peek().copied();
                if let Some(at) = read.filter(|_| write < read) {
                    reads.next();
                    if self.is_news(thread, at) && !found(access.place, at) {
                        break;
                    }
                } else if let Some(at) = write {
                    writes.next();
                    // Whoever knows a write knows all that came before it at the place.
                    if !self.is_news(thread, at) || !found(access.place, at) {
                        break;
                    }
                } else {
                    break;
                }
            }
        }
    }

    /// Whether `step` could be taken where the step at a place in the trace was: a step that waits
    /// cannot where a lock is taken, so one that gives it back cannot come later.
    fn is_open(&self, step: &Step, place: u32, at: u32) -> bool {
        let there = self.nodes[at as usize].step;
        !step.waits || !there.accesses().iter().any(|access| access.place == place && access.taken)
    }
}
