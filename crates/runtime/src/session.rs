//! A session: one check in progress, with its engine, its fibers and its memory.
//!
//! The scheduler loop runs on the worker's own stack and resumes fibers; ops run on the fibers
//! themselves, against the passive execution, and switch back only when another thread must run.
//! Fibers reach the session through a raw pointer, and no reference to it is held across a switch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use corosensei::{CoroutineResult, Yielder};
use unpick_core::error::Error;
use unpick_core::event::Event;
use unpick_core::execution::{Divergence, Execution, Outcome, Turn};
use unpick_core::op::{Addr, Mode, Op, Rmw, Site, ThreadId};
use unpick_core::timeouts::Timeouts;
use unpick_core::violation::{Access, Kind, Point, Violation};
use unpick_driver::judge;
use unpick_driver::knowledge::Knowledge;
use unpick_driver::search::Search;

use crate::arena::{self, Arena};
use crate::clocks::Clocks;
use crate::current;
use crate::facts::{Fact, SharedUses};
use crate::fiber::Fiber;
use crate::freed::Freed;
use crate::frontend::Handle;
use crate::heap::Heap;
use crate::lent::Lent;
use crate::limits::Limits;
use crate::locals::{self, Locals};
use crate::memory::Frees;
use crate::objects::{ObjectInfo, Objects};
use crate::overwritten::Overwritten;
use crate::panics::Panic;
use crate::pulse::Pulse;
use crate::queues::Queues;
use crate::record::{Calls, Recorder};
use crate::site;
use crate::trial;
use crate::watching::{NEVER, Watching};
use crate::wording;

/// The program under test: called once per execution.
pub type Program = Arc<dyn Fn() + Send + Sync>;

/// What a spawned thread has to do: a function, and what it works on. It is done once, or never.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    run: unsafe fn(*const ()),
    work: *const (),
}

impl Job {
    /// A job.
    ///
    /// # Safety
    ///
    /// `run` may be called with `work` once, by another thread of the program under test.
    #[inline(always)]
    pub unsafe fn new(run: unsafe fn(*const ()), work: *const ()) -> Job {
        Job { run, work }
    }
}

/// A check in progress.
pub(crate) struct Session {
    pub(crate) search: Search,
    pub(crate) fibers: Vec<Fiber>,
    pub(crate) jobs: Vec<Option<Job>>,
    pub(crate) heap: Heap,
    pub(crate) objects: Objects,
    pub(crate) frees: Frees,
    pub(crate) freed: Freed,
    pub(crate) overwritten: Overwritten,
    pub(crate) lent: Lent,
    pub(crate) watching: Watching,
    pub(crate) panics: Vec<Panic>,
    /// Threads that have stopped while they unwound.
    pub(crate) unwinding: Vec<ThreadId>,
    /// Whether a thread of an earlier execution was given up while it unwound: std thinks that it still does.
    pub(crate) has_left_unwinding: bool,
    /// The panic that the next one passes on, by its number.
    pub(crate) passing: Option<usize>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) limits: Limits,
    /// How many events the main thread had when it spawned its first thread in this run.
    first_spawn: u32,
    /// Whether this OS thread can no longer be used.
    pub(crate) needs_new_thread: bool,
    /// Whether a thread of the program was ever given up before its end.
    pub(crate) has_abandoned: bool,
    /// Whether the process must end after the report.
    pub(crate) fatal: bool,
    /// Uses of values that are made once.
    pub(crate) uses: SharedUses,
    /// What the library keeps for each thread.
    pub(crate) data: Vec<*const ()>,
    /// Thread-locals and clocks.
    pub(crate) locals: Locals,
    pub(crate) clocks: Clocks,
    /// Threads that need not end.
    pub(crate) detached: Vec<ThreadId>,
    /// Who has started a thread that nobody sees, first.
    pub(crate) unseen: Option<Calls>,
    /// What is assumed, with the place where it was first.
    pub(crate) assumed: Vec<(&'static str, Site)>,
    /// Threads that ask to write a lock, or wait to read one once more, with the lock.
    pub(crate) queues: Queues,
    /// Where an operation was weaker than SeqCst; looked for under strategies over traces only.
    pub(crate) weak: Option<Site>,
    /// The memory model, as a number in schedules.
    pub(crate) model: u8,
    /// The address of the last fault, whether it was a write, and the registers then.
    pub(crate) fault: (usize, bool, [usize; 16]),
    /// Whether this is the execution that is thrown away.
    pub(crate) is_trial: bool,
    stamp: u64,
    /// The stamp of objects on the system heap, which may outlive the run.
    heap_stamp: u64,
    /// Runs so far, of all executions.
    runs: u64,
    id: u64,
    program: Program,
}

impl Session {
    /// A session that has not started.
    pub(crate) fn new(
        execution: Execution,
        program: Program,
        limits: Limits,
        knowledge: Knowledge,
        pulse: Arc<Pulse>,
    ) -> Box<Session> {
        Box::new(Session {
            search: Search::new(execution, limits.loops, knowledge),
            fibers: Vec::new(),
            jobs: Vec::new(),
            heap: Heap::default(),
            objects: Objects::default(),
            frees: Frees::default(),
            freed: Freed::default(),
            overwritten: Overwritten::default(),
            lent: Lent::default(),
            watching: Watching::default(),
            panics: Vec::new(),
            unwinding: Vec::new(),
            has_left_unwinding: false,
            passing: None,
            recorder: None,
            pulse,
            limits,
            first_spawn: NEVER,
            needs_new_thread: false,
            has_abandoned: false,
            fatal: false,
            uses: SharedUses::default(),
            data: Vec::new(),
            locals: Locals::default(),
            clocks: Clocks::default(),
            detached: Vec::new(),
            unseen: None,
            assumed: Vec::new(),
            queues: Queues::default(),
            weak: None,
            model: 0,
            fault: (0, false, [0; 16]),
            is_trial: false,
            stamp: 0,
            heap_stamp: 0,
            runs: 0,
            id: crate::tag::new_session(),
            program,
        })
    }

    /// Replaces the execution: what follows starts from nothing.
    pub(crate) fn restart(&mut self, execution: Execution) -> Execution {
        std::mem::replace(&mut self.search.execution, execution)
    }

    /// Lets threads allocate from arenas, or not.
    pub(crate) fn use_arenas(&mut self, on_arenas: bool) {
        self.heap.on_arenas = on_arenas;
        self.search.execution.set_stable_addresses(on_arenas && !self.heap.spilled && !self.heap.outside);
    }

    /// The program is about to ask for memory that is elsewhere in each run.
    pub(crate) fn lose_addresses(&mut self) {
        self.heap.outside = true;
        self.search.execution.set_stable_addresses(false);
    }

    /// Whether the program ever asked for memory that outlives a run.
    pub(crate) fn is_outside(&self) -> bool {
        self.heap.outside
    }

    /// Whether threads allocate from arenas.
    pub(crate) fn is_on_arenas(&self) -> bool {
        self.heap.on_arenas
    }

    /// The verdict rests on something that is not looked at here.
    #[cold]
    pub(crate) fn assume(&mut self, what: &'static str, site: Site) {
        if !self.assumed.iter().any(|(known, _)| *known == what) {
            self.assumed.push((what, site));
        }
    }

    /// The stamp of the current run.
    #[inline(always)]
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The stamp of the current run on objects of the system heap.
    #[inline(always)]
    pub(crate) fn heap_stamp(&self) -> u64 {
        self.heap_stamp
    }

    /// Whether objects that are made in this run may be on the system heap.
    pub(crate) fn uses_heap(&self) -> bool {
        !self.heap.on_arenas || self.heap.bare || current::has_spilled()
    }

    /// The memory of a thread, or null if it has none. It is put aside while the engine runs, even
    /// when the thread does not allocate from it.
    #[inline(always)]
    pub(crate) fn arena(&mut self, thread: ThreadId) -> *mut Arena {
        match self.heap.arenas.get_mut(thread.index()) {
            Some(Some(arena)) if self.heap.on_arenas => &mut **arena,
            _ => self.heap.keeping.as_mut().map_or(std::ptr::null_mut(), |arena| &mut **arena),
        }
    }

    /// A run begins, which repeats an execution if there are turns to take.
    fn begin(&mut self, again: Option<&[Turn]>) {
        self.pulse.begin();
        self.search.begin(current::place().start, trial::settle, again);
        self.runs += 1;
        // Memory of our own is made anew in each run, tags included, so one stamp will do; and the
        // state of a loop, which may have objects on its stack, is the same in every run.
        let run = if self.heap.on_arenas { crate::tag::EVERY_RUN } else { self.runs };
        self.stamp = crate::tag::stamp(self.id, run);
        self.heap_stamp = crate::tag::stamp(self.id, self.runs);
        current::set_spilled(false);
        if let Some(common) = &mut self.heap.common {
            common.reset();
        }
        self.objects.races.clear();
        self.objects.cells.clear();
        self.objects.cell_addresses.clear();
        self.objects.addresses.clear();
        let known = self.search.knowledge.get(Fact::FreesAreWatched as usize);
        let overwritten = self.search.knowledge.get(Fact::AtomicsAreOverwritten as usize);
        self.overwritten.begin(if again.is_some() { 0 } else { overwritten });
        self.freed.begin(known, again.unwrap_or_default());
        for arena in self.heap.arenas.iter_mut().flatten() {
            arena.reset();
            arena.set_paged(known != 0);
        }
        self.objects.locations.resize(self.search.execution.graph().location_count(), ObjectInfo::NONE);
        self.frees.ordered = false;
        self.frees.counts.begin();
        self.lent.clear();
        self.frees.reviews = std::mem::take(&mut self.frees.reviews_next);
        self.first_spawn = NEVER;
        self.panics.clear();
        self.unwinding.clear();
        self.has_left_unwinding = std::thread::panicking();
        self.passing = None;
        // What is kept for other threads is known when they are spawned.
        if let Some(main) = self.data.first_mut() {
            *main = std::ptr::null();
        }
        self.locals.clear();
        self.clocks.clear();
        self.detached.clear();
        self.queues.clear();
        self.search.execution.set_timers(self.limits.timeouts == Timeouts::Last);
        self.watching.threads.clear();
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        self.want_block();
        self.watching.from = NEVER;
        self.watching.any =
            self.tracks_addresses() || (self.search.loops.places.any() && !self.search.execution.samples());
        if again.is_some() {
            self.watching.any = false;
            current::take_path(crate::ops::again, true);
            return;
        }
        self.take_path(false);
    }

    /// Chooses the path of the running thread once more, and that of each thread when it is resumed.
    pub(crate) fn choose_paths(&mut self, thread: ThreadId) {
        self.watching.any = true;
        self.choose_path(thread);
    }

    /// Tells the memory of threads which allocation the recorder wants.
    fn want_block(&mut self) {
        if let Some((thread, number)) = self.recorder.as_ref().and_then(|recorder| recorder.block)
            && let Some(Some(arena)) = self.heap.arenas.get_mut(thread.index())
        {
            arena.wanted = number;
        }
    }

    /// Whether the addresses of all objects are noted in this run.
    pub(crate) fn tracks_addresses(&self) -> bool {
        self.objects.track_addresses || self.recorder.is_some()
    }

    /// Chooses the path that the ops of a thread take: loops are watched from where on nothing that is
    /// recorded changes anything.
    #[inline(always)]
    fn choose_path(&mut self, thread: ThreadId) {
        let mut watched = self.tracks_addresses();
        if self.search.execution.samples() {
            watched |= self.watching.threads.contains(thread);
        } else if self.search.loops.places.any() && !watched {
            self.watching.from =
                self.search.loops.watch_from(&self.search.execution, thread, self.limits.loops.rounds);
            watched = self.search.execution.position(thread) >= self.watching.from;
        }
        self.take_path(watched);
    }

    #[inline(always)]
    pub(crate) fn take_path(&self, watched: bool) {
        let path = match (watched, self.search.execution.samples()) {
            (true, _) => crate::registers::watched,
            _ if self.looks() => crate::ops::looking,
            (false, true) => crate::ops::sampled,
            (false, false) => crate::ops::unwatched,
        };
        current::take_path(path, watched);
    }

    /// Makes the fiber and the memory of a thread, if it has none yet.
    #[inline(never)]
    #[cold]
    fn equip(&mut self, thread: ThreadId) -> Result<(), Error> {
        let this: *mut Session = self;
        while self.fibers.len() <= thread.index() {
            let next = ThreadId(self.fibers.len() as u32);
            self.fibers.push(Fiber::new(next, this, self.limits.stack_size)?);
            let mut arena = Arena::take();
            let paged = self.search.knowledge.get(Fact::FreesAreWatched as usize) != 0;
            arena.iter_mut().for_each(|arena| arena.set_paged(paged));
            self.heap.bare |= arena.is_none();
            self.heap.arenas.push(arena);
            self.jobs.push(None);
        }
        self.want_block();
        Ok(())
    }

    fn end(&mut self) -> Outcome {
        // SAFETY: no fiber runs, and the session is used by nobody else meanwhile.
        let outcome = judge::judge(&mut unsafe { Handle::new(self) });
        if self.weak.is_none() && self.search.execution.strategy().traces().is_some() {
            self.weak = self.weak_operation();
        }
        self.clean_up();
        outcome
    }

    /// What is done after each run.
    fn clean_up(&mut self) {
        self.abandon();
        self.freed.end();
        if self.heap.on_arenas && !self.heap.spilled && self.uses_heap() {
            self.heap.spilled = true;
            self.use_arenas(true);
        }
        self.objects.statics.restore();
        // What the program has freed on the system heap.
        self.heap.keeping.iter_mut().for_each(|kept| kept.free_kept());
        self.needs_new_thread |= std::thread::panicking();
    }

    /// Whether there is another thread than the first.
    #[inline(always)]
    pub(crate) fn has_spawned(&self) -> bool {
        self.first_spawn != NEVER
    }

    /// Where an operation of this run was weaker than SeqCst, so that weak memory may show more than
    /// traces do. Waiting for locks and signals does not count, and poison is told by those who wait.
    fn weak_operation(&self) -> Option<Site> {
        let graph = self.search.execution.graph();
        let is_weak = |event: &&Event| {
            let accesses = event.addr != Addr::NONE && event.effective_mode() != Mode::SeqCst;
            let waits = matches!(event.rmw, Rmw::Lock | Rmw::Await | Rmw::Post | Rmw::AddUnlocked);
            accesses
                && !waits
                && !matches!(self.objects.locations[event.addr.index()].kind, "Condvar" | "poison")
        };
        graph.order().iter().map(|&id| graph.event(id)).find(is_weak).map(|event| event.site)
    }

    /// Whether only threads are left that need not end, in an execution that is drawn: the others tell how far
    /// those come. Where all executions are explored, what they still do may be seen in others.
    fn is_over(&mut self) -> bool {
        let graph = self.search.execution.graph();
        let ended = |thread: ThreadId| graph.is_finished(thread) || self.detached.contains(&thread);
        let over = self.search.execution.samples()
            && graph.is_finished(ThreadId::MAIN)
            && (0..graph.thread_count()).all(|thread| ended(ThreadId(thread as u32)));
        if over {
            self.abandon();
        }
        over
    }

    /// Gives up the threads that have not ended.
    fn abandon(&mut self) {
        if self.fibers.iter().any(|fiber| fiber.busy) {
            self.has_abandoned = true;
            self.fibers.iter_mut().filter(|fiber| fiber.busy).for_each(Fiber::abandon);
            self.jobs.fill(None);
        }
    }

    /// Checks that the thread which has just used a location knows of its initialisation.
    #[inline(always)]
    pub(crate) fn check_published(&mut self, thread: ThreadId, op: &Op) {
        if let Some((creator, birth)) = self.objects.locations[op.addr.index()].birth(&self.heap.arenas)
            && creator != thread
            // All other threads come from this one or a later spawn.
            && (creator != ThreadId::MAIN || birth > self.first_spawn)
        {
            self.check_creator(thread, op, creator, birth);
        }
    }

    /// A thread is about to spawn another.
    #[inline(always)]
    pub(crate) fn before_spawn(&mut self, parent: ThreadId) {
        if parent == ThreadId::MAIN && self.first_spawn == NEVER {
            self.first_spawn = self.search.execution.position(parent);
        }
    }

    /// When the memory of a cell was allocated.
    pub(crate) fn birth_of_cell(&mut self, cell: u32) -> Option<(ThreadId, u32)> {
        self.objects.cells[cell as usize].birth(&self.heap.arenas)
    }

    /// What an error says about a replay that went astray.
    pub(crate) fn told_divergence(&self, divergence: &Divergence) -> Error {
        let kind = |op: &Op| self.objects.locations.get(op.addr.index()).map_or("", |known| known.kind);
        let [before, now] = [divergence.before.map(|event| event.op()), divergence.now];
        let same = before.zip(now).is_some_and(|(before, now)| {
            wording::call(&before, kind(&before)) == wording::call(&now, kind(&now))
        });
        let describe = |op: Option<Op>, remark: &str| match op {
            Some(op) => format!("{}{remark}{}", wording::call(&op, kind(&op)), wording::at(op.site)),
            None => String::from("nothing more"),
        };
        Error::Diverged {
            thread: site::thread_name(divergence.thread),
            before: describe(before, ""),
            now: describe(now, if same { " of another object" } else { "" }),
        }
    }

    #[inline(never)]
    fn check_creator(&mut self, thread: ThreadId, op: &Op, creator: ThreadId, birth: u32) {
        let graph = self.search.execution.graph();
        let index = self.search.execution.position(thread) - 1;
        let event = unpick_core::event::EventId { thread, index };
        if graph.hb(event)[creator.index()] > birth {
            return;
        }
        let point = Point { thread, index, site: op.site };
        let writes = graph.event(event).is_write();
        let access = Access { point, writes, atomic: true };
        let object = self.objects.locations[op.addr.index()].kind.to_string();
        self.search.execution.fail(Violation { kind: Kind::Unpublished { access, creator, object }, point });
    }
}

/// Runs one execution.
pub(crate) fn run(session: *mut Session) -> Outcome {
    // SAFETY: the caller owns the session, which is boxed and so does not move; references to it
    // end before a fiber is resumed.
    unsafe {
        (*session).begin(None);
        while let Some(thread) = (*session).search.execution.next_thread().or_else(|| (*session).fire()) {
            if thread.index() >= (*session).fibers.len()
                && let Err(error) = (*session).equip(thread)
            {
                (*session).search.error = Some(error);
                break;
            }
            loop {
                resume(session, thread);
                if (*session).search.loops.trial.is_none() {
                    break;
                }
                (*session).try_round();
            }
            if !(*session).detached.is_empty() && (*session).is_over() {
                break;
            }
        }
        (*session).end()
    }
}

/// Repeats the execution that has just ended, turn by turn. How it ended, if it did before all was repeated.
///
/// # Safety
///
/// The session is the caller's, and no fiber runs.
pub(crate) unsafe fn run_again(session: *mut Session, turns: &[Turn]) -> Option<Outcome> {
    // SAFETY: as in `run`.
    unsafe {
        let fatal = (*session).fatal;
        (*session).begin(Some(turns));
        while let Some(thread) = (*session).search.execution.next_thread() {
            resume(session, thread);
        }
        let outcome = (*session).search.execution.end_again();
        (*session).clean_up();
        (*session).fatal = fatal;
        outcome
    }
}

/// Lets a thread run until it must stop.
#[inline(always)]
unsafe fn resume(session: *mut Session, thread: ThreadId) {
    // SAFETY: the fiber exists, and only this OS thread touches the session.
    unsafe {
        let fiber = &mut (&mut (*session).fibers)[thread.index()];
        fiber.busy = true;
        let routine = fiber.routine();
        let arena = (*session).arena(thread);
        (*session).pulse.resume(thread);
        if (*session).watching.any {
            (*session).choose_path(thread);
        }
        current::set(session, Some(thread));
        arena::enter(arena);
        let result = (*routine).resume(());
        arena::enter(std::ptr::null_mut());
        current::set(session, None);
        if std::thread::panicking() || !(*session).unwinding.is_empty() {
            (*session).note_unwinding(thread);
        }
        if (*session).looks() {
            (*session).look(thread, 0);
        }
        assert!(matches!(result, CoroutineResult::Yield(())), "a fiber of unpick has returned");
    }
}

/// The body of every fiber: one thread after another.
pub(crate) fn work(session: *mut Session, thread: ThreadId, yielder: &Yielder<(), ()>) {
    // SAFETY: the session outlives its fibers, and only one OS thread runs them.
    unsafe { (&mut (*session).fibers)[thread.index()].set_yielder(yielder) };
    loop {
        if thread == ThreadId::MAIN {
            // SAFETY: as above; the program is not replaced while it runs.
            let program = unsafe { &(*session).program as *const Program };
            // SAFETY: as above.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| unsafe { (*program)() })) {
                crate::panics::end_execution(&*payload);
            }
        } else {
            // SAFETY: as above.
            let job = unsafe { (&mut (*session).jobs)[thread.index()].take() };
            if let Some(Job { run, work }) = job {
                // SAFETY: the job was taken, so it is not done twice.
                unsafe { run(work) };
            }
        }
        locals::end(session);
        crate::ops::finish();
        // SAFETY: as above.
        unsafe { (&mut (*session).fibers)[thread.index()].busy = false };
        yielder.suspend(());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.release();
        crate::tag::end_session(self.id);
    }
}

impl Session {
    /// Gives back fibers and memory.
    pub(crate) fn release(&mut self) {
        self.fibers.clear();
        self.jobs.clear();
        self.heap
            .arenas
            .drain(..)
            .chain([self.heap.common.take()])
            .flatten()
            .for_each(|arena| arena.give_back());
    }
}

// SAFETY: a session is moved between OS threads only between executions, when every fiber has
// been abandoned or stands at the top of its loop.
unsafe impl Send for Session {}
