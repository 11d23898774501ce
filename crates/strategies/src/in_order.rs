//! Executions in which all but loads takes effect in order, by the number of preemptions.
//!
//! An execution is an order of steps: who moves next is decided before each. A write goes last in the coherence
//! order of its location, and a read-modify-write sees the newest. A load may see an older write, as far as
//! the memory model allows, but what is sequentially consistent takes effect in order: a write that is, or that
//! comes before a fence, is known to a load that is, or that comes after a fence, if that is later. So the
//! count of a graph is the fewest preemptions (see [`preemptions`](crate::preemptions)) over all orders of its
//! events that contain `po`, `rf`, `mo`, `fr` from read-modify-writes, and the order of what is sequentially
//! consistent. Graphs that have no such order are left out.
//!
//! An event can be moved forward past events of other threads, once all that must be before it is there. So
//! among the orders with the fewest preemptions there is one in which a thread is left only
//!
//! - where it cannot go on: it has ended, or waits for a lock, a signal or a thread;
//! - before an event that something after the switch must come before;
//! - before it frees a lock that somebody comes to wait for after the switch.
//!
//! Just these orders are run, depth first: from a state in which a thread is left, each of the others
//! goes on in turn, and each load sees each write that it may. Nothing beyond the bound is ever visited, and no
//! state is saved: the graph is cut back to the last decision that can be taken otherwise.
//!
//! A choice that is made without a reason, as to wake up though nobody has woken the thread, counts as a preemption.
//!
//! Three rules leave out what is in vain, or known from another order:
//!
//! - **Marks.** A thread is left before an event only if an event of another thread was seen that conflicts with
//!   it, after it and not because of it, when the thread was not left. Likewise, where several threads can go on,
//!   another one goes first only if something that it does, or that it takes for another thread to do, was seen
//!   after an event of those that went in its place, in conflict with it and not because of it; or
//!   if what went first was given up, so that nothing can be said.
//! - **Sleep.** A thread that was left goes on only when something in conflict with its event has
//!   taken place; a load that was left sees a new write.
//! - **Passing.** Where several threads can go on, those that went first have been passed by when another one
//!   goes first. Such a thread has to come to something that must be after what took place since, before
//!   it is left again: if it does not, it might as well have run then.
//!
//! The same graph may be met more than once all the same.

#[cfg(feature = "audit")]
mod audit;
mod conflicts;
mod marks;

use std::ops::Range;

use unpick_core::event::EventId;
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Addr, Kind, Op, Rmw, TAKEN, ThreadId, Value};
use unpick_core::strategy::{Estimate, LockWaiter, Path, PreemptionBound, Ready, Scene, Seen, Strategy};

use crate::branches::Branches;
use conflicts::{is_changed, is_fenced, is_written, sees_before_fences, seqcst_floor, waiters, writes};

/// No number.
const NONE: u32 = u32::MAX;

/// Why a thread was left that could go on, and since when.
#[derive(Clone, Copy, Debug)]
struct Sleep {
    /// How many events there were.
    since: u32,
    /// The location, or [`Addr::NONE`] before a fence.
    addr: Addr,
    until: Until,
}

/// What a thread waits for that was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// There is a new write to see.
    Written,
    /// A write or read-modify-write took place, or what is in order with it if it is sequentially
    /// consistent.
    Changed { seqcst: bool },
    /// Something sequentially consistent took place.
    Fenced,
    /// More than so many threads wait for the location, which is to be freed.
    Waited(u32),
}

/// What a thread that does not run has to heed when it goes on.
#[derive(Clone, Copy, Debug)]
struct Pause {
    sleep: Option<Sleep>,
    /// How many events there were when another thread was run in its place, or [`NONE`].
    passed: u32,
}

impl Pause {
    const FREE: Pause = Pause { sleep: None, passed: NONE };
}

/// A thread takes over.
#[derive(Clone, Copy, Debug)]
struct Switch {
    thread: ThreadId,
    /// How many events there were.
    len: u32,
    /// Preemptions so far.
    used: u32,
    /// What the first event of the thread sees must be as new as this.
    since: u32,
    /// What some event of the thread sees must be as new as this, or [`NONE`].
    passed: u32,
    /// Where the pauses of the threads begin.
    pauses: u32,
    /// Where the items begin that let others take over instead.
    turns: u32,
}

impl Switch {
    /// The stamps of events that took place after the thread was passed by, and before it took over.
    fn since_passed(&self) -> Range<u32> {
        self.passed..self.len
    }
}

/// A decision that can be taken otherwise.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Events that stay.
    len: u32,
    /// Switches that stay.
    switches: u32,
    /// Whether the running thread had seen something new.
    news: bool,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Let the last event, a read, see another write, or fail without a reason.
    Source { read: EventId, write: EventId, spurious: bool },
    /// Decide the last event, a choice, otherwise; `whim`: that counts as a preemption.
    Choice { choice: EventId, value: Value, whim: bool },
    /// Leave the running thread, if the state is marked; `earlier` is the item before of the same location and
    /// thread.
    Leave { thread: ThreadId, sleep: Sleep, marked: bool, earlier: u32 },
    /// Let this thread take over, if that is marked; the running one was left, and those in `before` have gone on
    /// in its place. Such items of the same state begin at `start`.
    Turn { thread: ThreadId, left: Option<Sleep>, before: u64, start: u32, marked: bool },
}

/// What the next decision about threads has to carry out.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Leave(Sleep),
    Turn { thread: ThreadId, left: Option<Sleep>, before: u64, start: u32 },
}

/// The strategy.
#[derive(Debug)]
pub struct InOrder {
    spurious: bool,
    keeps_order: bool,
    bound: PreemptionBound,
    /// Whether the bound is raised as long as it leaves something out.
    deepens: bool,
    /// Whether it has: what the order of effects leaves out is so under every bound.
    spent: bool,
    items: Vec<Item>,
    branches: Branches,
    /// The last item of each location, and of fences, that lets each thread be left before an access there.
    leaves: Vec<Vec<u32>>,
    /// How many items let a thread take over and are not marked.
    unmarked_turns: u32,
    /// The switches of the execution.
    switches: Vec<Switch>,
    /// The pauses of all threads after each switch.
    pauses: Vec<Pause>,
    plan: Option<Plan>,
    /// Whether the running thread has seen something new, or need not.
    news: bool,
    /// Whether the execution is known from another order.
    known: bool,
    /// The stamp of the first load that may see less than was known at its fences, or [`NONE`].
    behind: u32,
    candidates: Vec<ThreadId>,
    view: Vec<u32>,
}

impl InOrder {
    /// A search from the start, for executions with at most so many preemptions; without a number, none, then
    /// one, and so on until more would make no difference. `spurious` lets weak exchanges fail without a reason.
    pub fn new(preemptions: Option<u32>, spurious: bool) -> InOrder {
        InOrder {
            spurious,
            keeps_order: false,
            bound: PreemptionBound { preemptions: preemptions.unwrap_or(0), left_out: 0 },
            deepens: preemptions.is_none(),
            spent: false,
            items: Vec::new(),
            branches: Branches::default(),
            leaves: Vec::new(),
            unmarked_turns: 0,
            switches: Vec::new(),
            pauses: Vec::new(),
            plan: None,
            news: true,
            known: false,
            behind: NONE,
            candidates: Vec::new(),
            view: Vec::new(),
        }
    }

    /// Repeats what is recorded in the order in which it took effect, for programs whose threads share what is not seen:
    /// see [`Strategy::keeps_order`].
    pub fn keeping_order(mut self) -> InOrder {
        self.keeps_order = true;
        self
    }

    fn push(&mut self, len: usize, what: What) {
        let (len, switches) = (len as u32, self.switches.len() as u32);
        self.items.push(Item { len, switches, news: self.news, what });
    }

    /// Makes a node of the items from `start` on, and goes on to what is done first.
    fn branch(&mut self, start: usize) {
        self.branches.branch(start, self.items.len());
    }

    /// The pause of a thread, of the newest among the first `end`.
    fn pause(&self, thread: ThreadId, end: usize) -> Pause {
        let start = self.switches.last().map_or(0, |switch| switch.pauses as usize);
        self.pauses[start..end].get(thread.index()).copied().unwrap_or(Pause::FREE)
    }

    // ---------------------------------------------------------------- threads

    /// Offers to leave the running thread before its next op.
    fn offer_leave(&mut self, graph: &Graph, ready: &Ready, thread: ThreadId, op: &Op) {
        if !self.news || ready.threads().all(|other| other == thread) {
            return;
        }
        let until = match op.kind {
            Kind::Read if op.rmw == Rmw::None => Until::Written,
            Kind::Read | Kind::Write => Until::Changed { seqcst: op.mode.is_seqcst() },
            Kind::Fence if op.mode.is_seqcst() => Until::Fenced,
            _ => return,
        };
        let sleep = Sleep { since: graph.len() as u32, addr: op.addr, until };
        if op.kind != Kind::Fence {
            let value = graph.value(op.addr, graph.newest(op.addr));
            if value == TAKEN && writes(op, value).is_some_and(|new| new != TAKEN) {
                let until = Until::Waited(waiters(ready, graph, op.addr));
                self.push_leave(thread, Sleep { until, ..sleep });
            }
        }
        self.push_leave(thread, sleep);
    }

    /// Whether a thread that is ready may go on.
    fn is_awake(&self, graph: &Graph, ready: &Ready, thread: ThreadId) -> bool {
        let Some(sleep) = self.pause(thread, self.pauses.len()).sleep else { return true };
        match sleep.until {
            Until::Written => is_written(graph, sleep.addr, sleep.since..NONE),
            Until::Changed { seqcst } => is_changed(graph, sleep.addr, seqcst, sleep.since..NONE),
            Until::Fenced => is_fenced(graph, sleep.since..NONE),
            Until::Waited(before) => waiters(ready, graph, sleep.addr) > before,
        }
    }

    /// Leaves the running thread for another one. `None`: all that is left to do is known.
    fn switch(&mut self, graph: &Graph, ready: &Ready, left: Option<Sleep>) -> Option<ThreadId> {
        let running = self.switches.last().map(|switch| switch.thread);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let others = ready.threads().filter(|&thread| left.is_none() || Some(thread) != running);
        candidates.extend(others.filter(|&thread| self.is_awake(graph, ready, thread)));
        // Those that were passed by come last: without news they lead nowhere.
        let passed = |thread: &ThreadId| self.pause(*thread, self.pauses.len()).passed != NONE;
        candidates.sort_unstable_by_key(|thread| (passed(thread), *thread));
        let start = self.items.len();
        let first = candidates.first().copied();
        let before = first.map_or(0, bit);
        for &thread in candidates.iter().skip(1).rev() {
            let turn = What::Turn { thread, left, before, start: start as u32, marked: false };
            self.push(graph.len(), turn);
        }
        self.unmarked_turns += (self.items.len() - start) as u32;
        self.branch(start);
        self.candidates = candidates;
        match first {
            Some(thread) => self.enter(graph, thread, left, 0, start as u32),
            None => self.known = true,
        }
        first
    }

    /// Lets a thread take over.
    fn enter(&mut self, graph: &Graph, thread: ThreadId, left: Option<Sleep>, before: u64, turns: u32) {
        let (start, len) = (self.pauses.len(), graph.len() as u32);
        let last = self.switches.last().copied();
        for thread in 0..graph.thread_count() as u32 {
            let pause = self.pause(ThreadId(thread), start);
            self.pauses.push(pause);
        }
        if let Some(last) = last {
            self.pauses[start + last.thread.index()] = Pause { sleep: left, ..Pause::FREE };
        }
        for t in 0..graph.thread_count().min(64) {
            if before & bit(ThreadId(t as u32)) != 0 {
                self.pauses[start + t].passed = len;
            }
        }
        let own = std::mem::replace(&mut self.pauses[start + thread.index()], Pause::FREE);
        let since = own.sleep.filter(|sleep| sleep.until == Until::Written).map_or(0, |sleep| sleep.since);
        let used = last.map_or(0, |last| last.used) + u32::from(left.is_some());
        let pauses = start as u32;
        self.switches.push(Switch { thread, len, used, since, passed: own.passed, pauses, turns });
        self.news = own.passed == NONE;
    }

    /// Who moves next. `None`: what is left to do is known from another order.
    fn decide(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        match self.plan.take() {
            Some(Plan::Leave(sleep)) => {
                let thread = self.switch(graph, ready, Some(sleep))?;
                return Some(self.grant(graph, ready, thread));
            }
            Some(Plan::Turn { thread, left, before, start }) => {
                self.enter(graph, thread, left, before, start);
                // That the thread waits in a loop may have come out since.
                self.known = !ready.contains(thread);
                return (!self.known).then(|| self.grant(graph, ready, thread));
            }
            None => {}
        }
        let running = self.switches.last().copied();
        let Some(switch) = running.filter(|switch| ready.contains(switch.thread)) else {
            if running.is_some_and(|switch| self.is_in_vain(graph, ready, &switch)) {
                self.known = true;
                return None;
            }
            let thread = self.switch(graph, ready, None)?;
            return Some(self.grant(graph, ready, thread));
        };
        if let Some(op) = ready.op(switch.thread) {
            if op.kind == Kind::Join && !self.news {
                let child = ThreadId(op.operand as u32);
                let end = EventId { thread: child, index: graph.thread_len(child) as u32 - 1 };
                self.known = graph.event(end).stamp >= switch.passed;
                if self.known {
                    return None;
                }
            }
            self.offer_leave(graph, ready, switch.thread, op);
        }
        Some(self.grant(graph, ready, switch.thread))
    }

    /// Takes note of the fence that a thread is to take.
    fn grant(&mut self, graph: &Graph, ready: &Ready, thread: ThreadId) -> ThreadId {
        let fences = |op: &Op| op.kind == Kind::Fence && op.mode.is_seqcst();
        if ready.op(thread).is_some_and(fences) {
            self.mark_fence(graph, thread);
            let fenced = |switch: &Switch| is_fenced(graph, switch.since_passed());
            self.news |= !self.news && self.switches.last().is_some_and(fenced);
        }
        thread
    }

    /// Whether the running thread, which cannot go on, could have come here when it was passed by.
    fn is_in_vain(&self, graph: &Graph, ready: &Ready, switch: &Switch) -> bool {
        if self.news {
            return false;
        }
        if graph.is_finished(switch.thread) {
            return true;
        }
        match ready.op(switch.thread) {
            Some(op) if op.kind == Kind::Join => true,
            Some(op) if op.kind == Kind::Read && op.rmw.may_wait() => {
                let newest = graph.newest(op.addr);
                newest.is_init() || graph.event(newest).stamp < switch.passed
            }
            _ => false,
        }
    }

    // ---------------------------------------------------------------- what is seen

    /// Takes note of what the running thread has seen. That it frees a lock is as good: those who wait for
    /// the lock could not have done so after it.
    fn see(&mut self, graph: &Graph, read: EventId) {
        if self.news {
            return;
        }
        let Some(switch) = self.switches.last() else { return };
        let event = graph.event(read);
        if event.is_update() && event.value != TAKEN && graph.value(event.addr, event.rf) == TAKEN {
            self.news = true;
            return;
        }
        let stamps = switch.since_passed();
        let new = !event.rf.is_init() && stamps.contains(&graph.event(event.rf).stamp);
        let updates = event.rmw != Rmw::None;
        let changed = || is_changed(graph, event.addr, event.mode.is_seqcst(), stamps);
        if !(new || updates && changed()) {
            return;
        }
        let older = |&&write: &&EventId| graph.event(write).stamp < switch.passed;
        let then = graph.writes(event.addr).iter().rev().find(older).copied().unwrap_or(EventId::INIT);
        if event.rmw.waits_on(graph.value(event.addr, then)) {
            // It would have had to wait here.
            self.known = true;
        } else {
            self.news = true;
        }
    }

    /// The oldest place that a new load may see.
    fn floor(&mut self, graph: &Graph, load: EventId, newest: usize) -> usize {
        let floor = graph.floor(graph.event(load).addr, graph.hb(load));
        if floor == newest {
            return newest;
        }
        let least = seqcst_floor(graph, load, floor);
        self.bound.left_out += u64::from(floor < least);
        least
    }

    /// Whether the graph is consistent with what the last event, a load, sees now. As long as loads see all that was
    /// known at the fences before them, the events are in an order that has what is sequentially consistent in
    /// order, so it is; a model that says more about other accesses has to be asked.
    fn is_consistent(&mut self, scene: &mut Scene<'_>, load: EventId) -> bool {
        let (graph, stamp) = (&*scene.graph, scene.graph.event(load).stamp);
        if self.behind >= stamp {
            let keeps = scene.model.synchronisation() == Synchronisation::AsWritten
                && sees_before_fences(graph, load, &mut self.view);
            self.behind = if keeps { NONE } else { stamp };
        }
        self.behind == NONE || scene.model.consistent(graph, &[load])
    }

    /// Takes note that an access which changes a location takes effect in order, if it need not.
    fn leave_out(&mut self, graph: &Graph, id: EventId) {
        if self.bound.left_out == 0 {
            let addr = graph.event(id).addr;
            let newest = graph.newest(addr);
            let places = graph.writes(addr).len() - usize::from(newest == id);
            self.bound.left_out += u64::from(graph.floor_without(addr, graph.hb(id), [id, id]) < places);
        }
    }

    /// Whether there may be one more preemption.
    fn may_spend(&mut self) -> bool {
        let used = self.switches.last().map_or(0, |switch| switch.used);
        let left = used < self.bound.preemptions;
        self.bound.left_out += u64::from(!left);
        self.spent |= !left;
        left
    }

    /// Counts a preemption, and lets the same thread go on, if there may be one more.
    fn spend(&mut self, threads: usize) -> bool {
        let may = self.may_spend();
        if let Some(&last) = self.switches.last().filter(|_| may) {
            let (start, end) = (last.pauses as usize, self.pauses.len());
            self.pauses.extend_from_within(start..end.min(start + threads));
            self.switches.push(Switch { used: last.used + 1, pauses: end as u32, ..last });
        }
        may
    }

    /// Carries out a decision; `false` when it leads nowhere.
    fn apply(&mut self, scene: &mut Scene<'_>, item: Item) -> bool {
        let graph = &mut *scene.graph;
        graph.cut(item.len as usize);
        if let Some(undone) = self.switches.get(item.switches as usize) {
            self.pauses.truncate(undone.pauses as usize);
        }
        self.switches.truncate(item.switches as usize);
        (self.news, self.known) = (item.news, false);
        if self.behind >= item.len {
            self.behind = NONE;
        }
        match item.what {
            What::Source { read, write, spurious } => {
                graph.read_from(read, write, spurious);
                if !self.is_consistent(scene, read) {
                    return false;
                }
                self.see(scene.graph, read);
            }
            What::Choice { choice, value, whim } => {
                graph.event_mut(choice).value = value;
                return !whim || self.spend(graph.thread_count());
            }
            What::Leave { marked: false, .. } => return false,
            What::Leave { sleep, .. } => {
                if !self.may_spend() {
                    return false;
                }
                self.plan = Some(Plan::Leave(sleep));
            }
            What::Turn { marked: false, .. } => return false,
            What::Turn { thread, left, before, start, .. } => {
                for item in &mut self.items[start as usize..] {
                    if let What::Turn { before, .. } = &mut item.what {
                        *before |= bit(thread);
                    }
                }
                self.plan = Some(Plan::Turn { thread, left, before, start });
            }
        }
        true
    }
}

impl Strategy for InOrder {
    fn name(&self) -> &'static str {
        "in-order"
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    fn drops_idle_rounds(&self) -> bool {
        true
    }

    fn admits(&mut self, _: ThreadId, _: bool, _: &Ready) -> bool {
        false
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        let next = if self.known { None } else { self.decide(graph, ready) };
        if next.is_none() {
            self.mark_waiters(graph, ready);
            self.mark_last_turns();
        }
        next
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        let graph = scene.graph;
        let first = |switch: &&Switch| switch.len as usize == graph.len();
        let since = self.switches.last().filter(first).map_or(0, |switch| switch.since);
        let read = graph.add(thread, op);
        self.mark(graph, read);
        let (len, newest) = (graph.len(), graph.newest(op.addr));
        let start = self.items.len();
        if op.rmw == Rmw::None {
            let last = graph.writes(op.addr).len();
            for position in self.floor(graph, read, last)..last {
                let write = graph.write_at(op.addr, position);
                if since == 0 || (!write.is_init() && graph.event(write).stamp >= since) {
                    self.push(len, What::Source { read, write, spurious: false });
                }
            }
        } else {
            let weak = self.spurious && op.rmw == Rmw::WeakCas;
            if weak && op.apply(graph.value(op.addr, newest)).is_some() {
                self.push(len, What::Source { read, write: newest, spurious: true });
            }
            if !op.rmw.may_wait() {
                self.leave_out(graph, read);
            }
        }
        self.branch(start);
        graph.read_from(read, newest, false);
        self.see(graph, read);
        Seen::by(graph, read)
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let graph = scene.graph;
        let taken = graph.value(op.addr, graph.newest(op.addr)) == TAKEN;
        let write = graph.add(thread, op);
        self.leave_out(graph, write);
        let changed =
            |switch: &Switch| is_changed(graph, op.addr, op.mode.is_seqcst(), switch.since_passed());
        let frees = taken && op.operand != TAKEN && !mutant::is(Mutant::FreedLocksForgotten);
        // Those who wait for a lock that is freed could not have done so after it.
        self.news |= frees || (!self.news && self.switches.last().is_some_and(changed));
        let last = graph.writes(op.addr).len();
        graph.insert_write(op.addr, last, write);
        self.mark(graph, write);
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let choice = scene.graph.add_with_value(thread, op, 0);
        let start = self.items.len();
        for value in (1..op.operand).rev() {
            let whim = op.rmw == Rmw::WeakCas;
            self.push(scene.graph.len(), What::Choice { choice, value, whim });
        }
        self.branch(start);
        choice
    }

    fn stuck(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]) {
        let len = scene.graph.len();
        for waiter in waiters {
            let read = scene.graph.add(waiter.thread, &waiter.op());
            self.mark(scene.graph, read);
            scene.graph.cut(len);
        }
    }

    fn counts(&mut self, scene: Scene<'_>, _: &[LockWaiter]) -> bool {
        let ended = |switch: &Switch| scene.graph.is_finished(switch.thread);
        !self.known && (self.news || !self.switches.last().is_some_and(ended))
    }

    fn preemption_bound(&self) -> Option<PreemptionBound> {
        Some(self.bound)
    }

    #[cfg(feature = "audit")]
    fn flaw(&self, graph: &Graph) -> Option<String> {
        self.item_flaw(graph)
    }

    fn estimate(&self, leaves: u64) -> Option<Estimate> {
        Some(self.branches.estimate(self.items.len(), leaves))
    }

    fn path(&self) -> Option<Path> {
        Some(self.branches.path(self.items.len()))
    }

    fn next(&mut self, mut scene: Scene<'_>) -> bool {
        self.plan = None;
        self.branches.end();
        while let Some(item) = self.pop() {
            if self.apply(&mut scene, item) {
                return true;
            }
        }
        self.branches.clear();
        if !self.deepens || !std::mem::take(&mut self.spent) {
            return false;
        }
        self.bound = PreemptionBound { preemptions: self.bound.preemptions + 1, left_out: 0 };
        scene.graph.cut(0);
        self.switches.clear();
        self.pauses.clear();
        (self.news, self.known, self.behind) = (true, false, NONE);
        true
    }
}

/// Where the items of a location are found; fences come first.
fn slot(addr: Addr) -> usize {
    if addr == Addr::NONE { 0 } else { addr.index() + 1 }
}

/// The thread in a set of the first 64.
fn bit(thread: ThreadId) -> u64 {
    1u64.checked_shl(thread.0).unwrap_or(0)
}
