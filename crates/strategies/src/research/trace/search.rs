//! The search over traces: depth first, and which threads are run from each state.
//!
//! It knows threads and their next steps only, so it can be tested on steps that no program has.

use unpick_core::mutant::{self, Mutant};
use unpick_core::op::ThreadId;
use unpick_core::thread_set::ThreadSet;

use super::stack::{Node, Stack, Step, Steps, knows};
use crate::estimate::{self, Tree};

/// Which threads are run from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// All.
    All,
    /// All, but a thread is interrupted only before steps that synchronise.
    Synchronising,
    /// Those that conflicts ask for: a persistent set. With `sleep`, none whose step was explored
    /// already.
    Persistent {
        /// Whether there are sleep sets.
        sleep: bool,
    },
    /// Those that races ask for: a source set, with sleep sets.
    Source,
    /// All where no thread is interrupted, and where one is, all if a conflict has marked the state.
    /// With `sleep`, an interrupted thread sleeps.
    Marked {
        /// Whether there are sleep sets.
        sleep: bool,
    },
    /// Those that conflicts ask for, there and where the thread in conflict began to run.
    Conservative,
}

/// What a search costs, for estimates of its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Each step that is new.
    pub(crate) step: u64,
    /// Each trace that is run to its end.
    pub(crate) trace: u64,
}

/// The search.
#[derive(Debug)]
pub(crate) struct Search {
    rule: Rule,
    cost: Cost,
    /// What the traces before the current one have cost, and the steps of that one.
    spent: u64,
    /// Traces that were run to their end, before the current one.
    traces: u64,
    /// Whether two reads of one place conflict.
    reads_conflict: bool,
    /// Interruptions at most.
    bound: Option<u32>,
    /// Whether the bound has kept something from being explored.
    cut: bool,
    stack: Stack,
    /// Whether the step of the last node has yet to be taken.
    open: bool,
    /// Whether the trace was ended since all threads that could go on sleep.
    stuck: bool,
    found: Vec<usize>,
    first: Vec<Option<u32>>,
}

impl Search {
    pub(crate) fn new(rule: Rule, reads_conflict: bool, bound: Option<u32>) -> Search {
        Search {
            rule,
            cost: Cost { step: 0, trace: 1 },
            spent: 0,
            traces: 0,
            reads_conflict,
            bound,
            cut: false,
            stack: Stack::default(),
            open: false,
            stuck: false,
            found: Vec::new(),
            first: Vec::new(),
        }
    }

    /// The same search, with estimates of what it costs.
    #[cfg(test)]
    pub(crate) fn with_cost(mut self, cost: Cost) -> Search {
        self.cost = cost;
        self
    }

    /// Whether the bound has kept something from being explored.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether the trace ended since all threads that could go on sleep.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Which way the step at a place in the trace goes.
    pub(crate) fn way(&self, at: usize) -> u64 {
        if at < self.stack.len() { self.stack.node(at).way } else { 0 }
    }

    /// Starts from the beginning under another bound.
    pub(crate) fn restart(&mut self, bound: u32) {
        debug_assert_eq!(self.stack.len(), 0);
        self.bound = Some(bound);
        self.cut = false;
        (self.spent, self.traces) = (0, 0);
    }

    /// The thread that moves at this place in the trace, given the next step of each thread that has
    /// one. `None`: all that can go on sleep.
    pub(crate) fn pick(
        &mut self,
        at: usize,
        steps: &(impl Steps + ?Sized),
        enabled: &ThreadSet,
    ) -> Option<ThreadId> {
        if at >= self.stack.len() {
            self.arrive(steps, enabled)?;
        } else if !enabled.contains(self.stack.node(at).thread) {
            self.come_again(at, steps, enabled)?;
        }
        if self.open && at + 1 == self.stack.len() {
            self.open = false;
            self.go(steps);
        }
        Some(self.stack.node(at).thread)
    }

    /// Makes a node for a state that is new, and decides who moves first.
    fn arrive(&mut self, steps: &(impl Steps + ?Sized), enabled: &ThreadSet) -> Option<()> {
        let at = self.stack.push(enabled, steps.threads());
        self.stack.node_mut(at).entered = self.spent;
        let silent = enabled.iter().find(|&thread| steps.is_silent(thread));
        self.inherit_sleep(at, steps);
        let thread = match silent {
            Some(thread) => Some(thread),
            None => self.first_of(at, steps),
        };
        let Some(thread) = thread else {
            self.stack.pop();
            self.stuck = true;
            return None;
        };
        let node = self.stack.node_mut(at);
        node.thread = thread;
        node.wanted.insert(thread);
        self.open = true;
        Some(())
    }

    /// Decides once more who moves from a state: the thread that was to move waits, as has become known
    /// since. A loop that waits is recognised only when it has come round.
    fn come_again(&mut self, at: usize, steps: &(impl Steps + ?Sized), enabled: &ThreadSet) -> Option<()> {
        debug_assert_eq!(at + 1, self.stack.len());
        if !self.open {
            self.stack.undo();
        }
        let node = self.stack.node_mut(at);
        let silent = node.step.silent && !self.open;
        node.enabled.clone_from(enabled);
        (node.way, self.open) = (0, true);
        let fresh = node.done.is_empty() || silent;
        let next = if fresh { self.first_of(at, steps) } else { self.next_of(at) };
        let Some(next) = next else {
            (self.open, self.stuck) = (false, true);
            self.stack.pop();
            return None;
        };
        let node = self.stack.node_mut(at);
        node.thread = next;
        node.wanted.insert(next);
        Some(())
    }

    /// The step of a thread, as the rule sees it.
    fn step(&self, steps: &(impl Steps + ?Sized), thread: ThreadId) -> Option<Step> {
        let step = steps.step(thread)?;
        Some(if self.reads_conflict { step.writing() } else { step })
    }

    /// A thread that sleeps goes on sleeping until a step conflicts with its own.
    fn inherit_sleep(&mut self, at: usize, steps: &(impl Steps + ?Sized)) {
        let Some(parent) = at.checked_sub(1) else { return };
        let mut next = self.stack.node(parent).sleep.first();
        while let Some(thread) = next {
            let parent = self.stack.node(parent);
            next = parent.sleep.after(thread);
            let wakes = || self.step(steps, thread).is_none_or(|step| step.conflicts(&parent.step));
            let enabled = thread != parent.thread && self.stack.node(at).enabled.contains(thread);
            if enabled && (parent.step.accesses().is_empty() || !wakes()) {
                let node = self.stack.node_mut(at);
                node.sleep.insert(thread);
                node.slept.insert(thread);
            }
        }
        if self.rule == (Rule::Marked { sleep: true }) && !mutant::is(Mutant::SleepersStayAsleep) {
            self.wake(at, steps);
        }
    }

    /// Wakes the threads that could let the thread go on that moved last. The change of thread is free
    /// only because that one has to wait: if the step of a sleeper came earlier, it would not, and the
    /// change would be a preemption.
    fn wake(&mut self, at: usize, steps: &(impl Steps + ?Sized)) {
        let node = self.stack.node(at);
        let waiting = node.last.filter(|_| !node.goes_on()).and_then(|last| self.step(steps, last));
        let Some(waiting) = waiting else { return };
        let mut next = self.stack.node(at).sleep.first();
        while let Some(thread) = next {
            next = self.stack.node(at).sleep.after(thread);
            let helps = self.step(steps, thread).is_none_or(|step| step.conflicts(&waiting));
            if helps || waiting.accesses().is_empty() {
                let node = self.stack.node_mut(at);
                node.sleep.remove(thread);
                node.slept.remove(thread);
            }
        }
    }

    /// Whom to run first from a new state, if anyone.
    fn first_of(&mut self, at: usize, steps: &(impl Steps + ?Sized)) -> Option<ThreadId> {
        if matches!(self.rule, Rule::Persistent { .. } | Rule::Conservative) {
            self.look_around(at, steps);
        }
        let node = self.stack.node(at);
        let last = node.last.filter(|_| node.goes_on());
        let awake = node.enabled.iter().find(|&thread| !node.sleep.contains(thread));
        let first = match self.rule {
            Rule::All | Rule::Synchronising | Rule::Conservative | Rule::Marked { .. } => last.or(awake),
            Rule::Persistent { .. } | Rule::Source => awake,
        };
        if self.rule == Rule::Synchronising
            && last.is_some_and(|last| !self.step(steps, last).is_some_and(|step| step.synchronises))
        {
            // Nobody else is ever run from here.
            let node = self.stack.node_mut(at);
            let others = node.enabled.clone();
            others.iter().filter(|&thread| Some(thread) != last).for_each(|thread| node.done.insert(thread));
        }
        if first.is_none() {
            self.see_blocked(at, steps);
        }
        first
    }

    /// Whom to run next from the last node, if anyone.
    fn next_of(&mut self, at: usize) -> Option<ThreadId> {
        let node = self.stack.node_mut(at);
        if self.rule == (Rule::Marked { sleep: true })
            && node.marked
            && node.goes_on()
            && let Some(last) = node.last
        {
            node.sleep.insert(last);
        }
        let node = self.stack.node(at);
        // The thread that was running needs no interruption, whenever it is asked for.
        let free = node.last.filter(|&last| self.rule == Rule::Conservative && self.is_left(node, last));
        let next = free.or_else(|| node.enabled.iter().find(|&thread| self.is_left(node, thread)))?;
        if self.is_beyond(node, next) {
            self.cut = true;
            return None;
        }
        Some(next)
    }

    /// Whether the thread is to be run from a node, and has not been, if the bound permits.
    fn is_left(&self, node: &Node, thread: ThreadId) -> bool {
        let wanted = match self.rule {
            Rule::All | Rule::Synchronising => true,
            Rule::Persistent { .. } | Rule::Source | Rule::Conservative => node.wanted.contains(thread),
            Rule::Marked { .. } => node.marked || !node.goes_on(),
        };
        wanted && node.enabled.contains(thread) && !node.done.contains(thread) && !node.sleep.contains(thread)
    }

    /// Whether running the thread from a node is beyond the bound.
    fn is_beyond(&self, node: &Node, thread: ThreadId) -> bool {
        self.bound.is_some_and(|bound| node.used >= bound) && node.interrupts(thread)
    }

    /// Takes the step of the last node's thread, and looks what it is in conflict with.
    fn go(&mut self, steps: &(impl Steps + ?Sized)) {
        let at = self.stack.len() - 1;
        let thread = self.stack.node(at).thread;
        let Some(step) = self.step(steps, thread) else { return };
        self.spent += self.cost.step;
        let node = self.stack.node_mut(at);
        node.way = node.way.min(step.ways.saturating_sub(1));
        self.stack.look(thread, &step);
        if !step.silent {
            match self.rule {
                Rule::Marked { .. } => self.mark(thread, &step),
                Rule::Source => self.collect_races(thread, &step),
                _ => {}
            }
        }
        self.stack.take(step);
        if self.rule == Rule::Source && !step.silent {
            self.turn_races(thread, at, false);
        }
    }

    /// Leaves the trace for the next one; how much of it stays. `None` when all is explored.
    pub(crate) fn advance(&mut self) -> Option<usize> {
        let ran = u64::from(!std::mem::take(&mut self.stuck));
        self.traces += ran;
        self.spent += ran * self.cost.trace;
        let spent = self.spent;
        if self.open {
            // The run ended before the step was taken.
            self.open = false;
            self.stack.pop();
        }
        while let Some(at) = self.stack.len().checked_sub(1) {
            self.stack.undo();
            let node = self.stack.node_mut(at);
            node.finished += 1;
            node.below = spent - node.entered;
            if node.way + 1 < node.step.ways {
                node.way += 1;
                self.open = true;
                return Some(at);
            }
            node.way = 0;
            let (thread, silent) = (node.thread, node.step.silent);
            node.done.insert(thread);
            if matches!(self.rule, Rule::Persistent { sleep: true } | Rule::Source) {
                node.sleep.insert(thread);
            }
            if !silent && let Some(next) = self.next_of(at) {
                self.stack.node_mut(at).thread = next;
                self.open = true;
                return Some(at);
            }
            self.stack.pop();
        }
        None
    }

    /// How many traces were run to their end, with the current one.
    pub(crate) fn traces(&self) -> u64 {
        self.traces + u64::from(self.is_at_end())
    }

    /// Whether there is a current trace, and it was run to its end.
    fn is_at_end(&self) -> bool {
        !self.stuck && !self.open && self.stack.len() > 0
    }

    /// How far the search has come, as a tree of states.
    pub(crate) fn tree(&self) -> Tree {
        let (mut path, mut spent) = (Vec::with_capacity(self.stack.len()), 0);
        for at in 0..self.stack.len() {
            let node = self.stack.node(at);
            let enters = self.open && at + 1 == self.stack.len();
            // The step of a thread that has yet to move is not known, and nor are its ways.
            let ways = if enters && node.way == 0 { 1 } else { node.step.ways - node.way };
            let is_left = |&thread: &ThreadId| {
                thread != node.thread && self.is_left(node, thread) && !self.is_beyond(node, thread)
            };
            let others = if node.step.silent { 0 } else { node.enabled.iter().filter(is_left).count() };
            let marked = u32::try_from(u64::from(node.finished) + ways + others as u64).unwrap_or(u32::MAX);
            let cost = (node.entered - spent) as f64;
            path.push(estimate::Node { marked, finished: node.finished, cost, below: node.below as f64 });
            spent = node.entered + node.below;
        }
        let leaf = self.spent + u64::from(self.is_at_end()) * self.cost.trace - spent;
        Tree::at(path, (!self.open).then_some(leaf as f64))
    }

    /// Looks at threads that wait for ever: what they are in conflict with.
    pub(crate) fn end(&mut self, steps: &(impl Steps + ?Sized)) {
        let at = self.stack.len();
        self.stack.make_room(steps.threads());
        if mutant::is(Mutant::WaitersSkipped) {
            return;
        }
        if matches!(self.rule, Rule::Persistent { .. } | Rule::Conservative) {
            self.look_around(at, steps);
        } else {
            self.see_blocked(at, steps);
        }
    }

    // ---------------------------------------------------------------- persistent sets

    /// Asks for the threads whose next step is in conflict with one that was taken.
    fn look_around(&mut self, at: usize, steps: &(impl Steps + ?Sized)) {
        // The last step that is not silent; what is older was looked at before.
        let since = (0..at).rev().find(|&i| !self.stack.node(i).step.silent);
        for thread in (0..steps.threads()).map(|t| ThreadId(t as u32)) {
            let Some(step) = self.step(steps, thread) else { continue };
            let moved = self.stack.newest(thread).is_none_or(|newest| Some(newest) >= since);
            let touched = since.is_some_and(|i| self.stack.node(i).step.conflicts(&step));
            if step.silent || !(moved || touched) {
                continue;
            }
            self.stack.look(thread, &step);
            let all = self.rule == Rule::Conservative;
            let mut found = std::mem::take(&mut self.found);
            found.clear();
            self.stack.conflicts(thread, &step, |i, open| {
                if open || all {
                    found.push(i);
                }
                all || !open
            });
            if !all {
                // A step may access several places, and has a newest conflict at each.
                found.sort_unstable();
                found.drain(..found.len().saturating_sub(1));
            }
            for &i in &found {
                if all { self.ask_conservatively(i, thread) } else { self.ask(i, thread) }
            }
            self.found = found;
        }
    }

    /// Asks for `thread`, or for one that leads to its step, to be run at a place in the trace.
    fn ask(&mut self, at: usize, thread: ThreadId) {
        let node = self.stack.node(at);
        let leads = |other: ThreadId| {
            let count = self.stack.before.get(other.index()).copied().unwrap_or(0);
            other == thread || (count > 0 && self.stack.position(other, count - 1) > at)
        };
        let asked = |other: ThreadId| node.wanted.contains(other) && !node.slept.contains(other);
        if node.enabled.iter().any(|other| leads(other) && asked(other)) {
            return;
        }
        let own = Some(thread).filter(|&thread| node.enabled.contains(thread));
        let able = own.or_else(|| node.enabled.iter().find(|&other| leads(other)));
        let sleeps = matches!(self.rule, Rule::Persistent { sleep: true })
            && !mutant::is(Mutant::SleepingThreadAskedFor);
        let useful = able.filter(|&other| !sleeps || !node.slept.contains(other));
        let node = self.stack.node_mut(at);
        match useful {
            Some(other) => node.wanted.insert(other),
            // It sleeps, and others must take its part; or nobody is known to lead there.
            None => node.wanted.clone_from(&node.enabled),
        }
    }

    /// Asks for `thread` where the conflict is, and where the thread in conflict began to run.
    fn ask_conservatively(&mut self, at: usize, thread: ThreadId) {
        let running = self.stack.node(at).thread;
        let mut begin = at;
        for i in (0..at).rev() {
            let node = self.stack.node(i);
            if !node.step.silent {
                if node.thread != running {
                    break;
                }
                begin = i;
            }
        }
        for i in [at, begin] {
            let node = self.stack.node_mut(i);
            if node.enabled.contains(thread) {
                node.wanted.insert(thread);
            } else {
                node.wanted.clone_from(&node.enabled);
            }
        }
    }

    // ---------------------------------------------------------------- marks

    /// Marks the states in which steps were taken that are in conflict with this one.
    fn mark(&mut self, thread: ThreadId, step: &Step) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        // Also where the thread would have to wait: whoever is interrupted there can be gone back to
        // without a preemption.
        self.stack.conflicts(thread, step, |i, _| {
            found.push(i);
            true
        });
        found.iter().for_each(|&i| self.stack.node_mut(i).marked = true);
        self.found = found;
    }

    /// As for steps that are taken, for those of threads that wait.
    fn see_blocked(&mut self, at: usize, steps: &(impl Steps + ?Sized)) {
        for thread in (0..steps.threads()).map(|t| ThreadId(t as u32)) {
            let Some(step) = self.step(steps, thread).filter(|step| !step.enabled && step.waits) else {
                continue;
            };
            match self.rule {
                Rule::Marked { .. } => {
                    self.stack.look(thread, &step);
                    self.mark(thread, &step);
                }
                Rule::Source => {
                    self.stack.look(thread, &step);
                    self.collect_races(thread, &step);
                    self.turn_races(thread, at, true);
                }
                _ => {}
            }
        }
    }

    // ---------------------------------------------------------------- source sets

    /// Collects the steps that race with a step of `thread`: those in conflict, with no other step
    /// between them in happens-before.
    fn collect_races(&mut self, thread: ThreadId, step: &Step) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.stack.conflicts(thread, step, |i, open| {
            if open {
                found.push(i);
            }
            // What is before a write is before all that reads or overwrites it.
            !open || !self.stack.node(i).step.accesses().iter().any(|access| access.writes)
        });
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        let mut kept = 0;
        for i in 0..found.len() {
            let node = self.stack.node(found[i]);
            let between = found[..kept].iter();
            if !between.clone().any(|&later| knows(&self.stack.node(later).clock, node.thread, node.index)) {
                found[kept] = found[i];
                kept += 1;
            }
        }
        found.truncate(kept);
        self.found = found;
    }

    /// Sees to it that the collected races are also run the other way round. The step that races with
    /// them is of `thread`, at `end` in the trace, or not taken (`blocked`).
    fn turn_races(&mut self, thread: ThreadId, end: usize, blocked: bool) {
        let found = std::mem::take(&mut self.found);
        for &at in &found {
            let racing = self.stack.node(at);
            let (other, index) = (racing.thread, racing.index);
            let wrote = racing.step.accesses().iter().any(|access| access.writes);
            // The steps that do not depend on the one that is put off, and who can begin with them.
            self.first.clear();
            self.first.resize(self.stack.threads(), None);
            let first = &mut self.first;
            let mut initials = Initials { lowest: None, own: false, asked: false };
            let mut see = |runner: ThreadId, index: u32, clock: &[u32]| {
                let begins = first[runner.index()].is_none();
                let leads = |(t, of): (usize, &Option<u32>)| {
                    of.is_some_and(|of| t != runner.index() && knows(clock, ThreadId(t as u32), of))
                };
                if begins {
                    if !first.iter().enumerate().any(leads) {
                        initials.asked |= racing.wanted.contains(runner);
                        initials.own |= runner == thread;
                        let lowest = initials.lowest.unwrap_or(runner);
                        initials.lowest = Some(lowest.min(runner));
                    }
                    first[runner.index()] = Some(index);
                }
            };
            for i in at + 1..end {
                let node = self.stack.node(i);
                if !knows(&node.clock, other, index) {
                    see(node.thread, node.index, &node.clock);
                }
            }
            // Nothing at the place can come between a write and this step but what depends on the write.
            if wrote || blocked {
                see(thread, u32::MAX, &self.stack.before);
            } else {
                see(thread, u32::MAX, &self.stack.node(end).clock);
            }
            let Initials { lowest, own, asked } = initials;
            let node = self.stack.node_mut(at);
            if !asked {
                match lowest.map(|lowest| if own { thread } else { lowest }) {
                    Some(first) if node.enabled.contains(first) => node.wanted.insert(first),
                    _ => node.wanted.clone_from(&node.enabled),
                }
            }
        }
        self.found = found;
    }
}

/// The threads that could begin a sequence of steps.
struct Initials {
    lowest: Option<ThreadId>,
    /// Whether the thread of the last step is among them.
    own: bool,
    /// Whether one of them is run anyway.
    asked: bool,
}
