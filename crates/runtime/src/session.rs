//! A session: one check in progress, with its engine, its fibers and its memory.
//!
//! The scheduler loop runs on the worker's own stack and resumes fibers; ops run on the fibers
//! themselves, against the passive execution, and switch back only when another thread must run.
//! Fibers reach the session through a raw pointer, and no reference to it is held across a switch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use corosensei::{CoroutineResult, Yielder};
use unpick_checkers::race::Cells;
use unpick_checkers::{race, stuck};
use unpick_core::error::Error;
use unpick_core::execution::{Divergence, Execution, Outcome};
use unpick_core::op::{Op, Site, ThreadId};
use unpick_core::violation::{Access, Kind, Point, Violation};

use crate::arena::{self, Arena};
use crate::current;
use crate::facts::Facts;
use crate::fiber::Fiber;
use crate::memory::Shared;
use crate::ops::Object;
use crate::panics::Panic;
use crate::pulse::Pulse;
use crate::record::Recorder;
use crate::site;
use crate::spin::Spins;
use crate::statics::Statics;
use crate::tag::Tag;

/// The program under test: called once per execution.
pub type Program = Arc<dyn Fn() + Send + Sync>;

/// What a spawned thread has to do.
pub(crate) type Job = Box<dyn FnOnce()>;

/// Limits that the runtime keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// How often a loop may read the same write at the same place before it is cut.
    pub max_rounds: usize,
    /// Whether memory that is left behind is a violation.
    pub leaks: bool,
}

/// A position that no thread reaches.
const NEVER: u32 = u32::MAX;

/// What is known of an object that has a location or a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Name of its type.
    pub(crate) kind: &'static str,
    birth: Birth,
}

/// When the memory that an object lives in was allocated.
#[derive(Clone, Copy, Debug)]
enum Birth {
    /// Nobody has asked yet; the object is here.
    At(usize),
    /// The thread, and how many events it had.
    Known(ThreadId, u32),
    /// Not by a thread under test.
    Outside,
}

impl Known {
    /// Nothing is known.
    pub(crate) const NONE: Known = Known { kind: "", birth: Birth::Outside };

    /// What is known when an object is first used.
    pub(crate) fn new(object: &Object<'_>) -> Known {
        Known { kind: object.kind, birth: Birth::At(object.tag as *const Tag as usize) }
    }

    fn birth(&mut self, arenas: &[Option<Box<Arena>>]) -> Option<(ThreadId, u32)> {
        if let Birth::At(address) = self.birth {
            let owner = arenas.iter().enumerate().find_map(|(t, arena)| {
                let arena = arena.as_ref().filter(|arena| arena.contains(address))?;
                Some((ThreadId(t as u32), arena.birth(address)?))
            });
            self.birth = owner.map_or(Birth::Outside, |(thread, birth)| Birth::Known(thread, birth));
        }
        match self.birth {
            Birth::Known(thread, birth) => Some((thread, birth)),
            _ => None,
        }
    }
}

/// A check in progress.
pub(crate) struct Session {
    pub(crate) execution: Execution,
    pub(crate) fibers: Vec<Fiber>,
    pub(crate) jobs: Vec<Option<Job>>,
    pub(crate) arenas: Vec<Option<Box<Arena>>>,
    pub(crate) cells: Cells,
    pub(crate) known_cells: Vec<Known>,
    pub(crate) known: Vec<Known>,
    pub(crate) statics: Statics,
    pub(crate) panics: Vec<Panic>,
    pub(crate) spins: Spins,
    pub(crate) error: Option<Error>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) limits: Limits,
    /// The event of the running thread from which on its loops are watched.
    pub(crate) watch_from: u32,
    /// Places where a loop was cut.
    pub(crate) cut_loops: Vec<Site>,
    /// Whether this OS thread can no longer be trusted with panics.
    pub(crate) worn: bool,
    /// Whether the process must end after the report.
    pub(crate) fatal: bool,
    /// What is known about the program.
    pub(crate) facts: Facts,
    /// What the library keeps for each thread.
    pub(crate) data: Vec<*const ()>,
    /// Whether the exploration must start again, since more has become visible.
    pub(crate) renew: bool,
    /// Whether the addresses of all objects are noted, run after run.
    pub(crate) careful: bool,
    /// Where the objects of locations were last used, where that is noted.
    pub(crate) addresses: Vec<usize>,
    /// Where cells were last used.
    pub(crate) cell_addresses: Vec<usize>,
    /// A clock, for comparing.
    pub(crate) view: Vec<u32>,
    /// Knows the destructors of shared pointers.
    pub(crate) shared: Shared,
    /// The address of the last fault, and the registers then.
    pub(crate) fault: (usize, [usize; 16]),
    /// What threads have for memory in the execution that is thrown away.
    pub(crate) keeping: Option<Box<Arena>>,
    stamp: u64,
    /// Runs so far, of all executions.
    runs: u64,
    id: u64,
    program: Program,
    on_arenas: bool,
}

impl Session {
    /// A session that has not started.
    pub(crate) fn new(
        execution: Execution,
        program: Program,
        limits: Limits,
        pulse: Arc<Pulse>,
    ) -> Box<Session> {
        Box::new(Session {
            execution,
            fibers: Vec::new(),
            jobs: Vec::new(),
            arenas: Vec::new(),
            cells: Cells::new(),
            known_cells: Vec::new(),
            known: Vec::new(),
            statics: Statics::default(),
            panics: Vec::new(),
            spins: Spins::default(),
            error: None,
            recorder: None,
            pulse,
            limits,
            watch_from: NEVER,
            cut_loops: Vec::new(),
            worn: false,
            fatal: false,
            facts: Facts::default(),
            data: Vec::new(),
            renew: false,
            careful: false,
            addresses: Vec::new(),
            cell_addresses: Vec::new(),
            view: Vec::new(),
            shared: Shared::default(),
            fault: (0, [0; 16]),
            keeping: None,
            stamp: 0,
            runs: 0,
            id: crate::tag::new_session(),
            program,
            on_arenas: false,
        })
    }

    /// Replaces the execution: what follows starts from nothing.
    pub(crate) fn restart(&mut self, execution: Execution) -> Execution {
        std::mem::replace(&mut self.execution, execution)
    }

    /// Lets threads allocate from arenas, or not.
    pub(crate) fn use_arenas(&mut self, on_arenas: bool) {
        self.on_arenas = on_arenas;
        self.execution.set_stable_addresses(on_arenas);
    }

    /// Whether threads allocate from arenas.
    pub(crate) fn is_on_arenas(&self) -> bool {
        self.on_arenas
    }

    /// The stamp of the current run.
    #[inline(always)]
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The memory of a thread, or null.
    #[inline(always)]
    pub(crate) fn arena(&mut self, thread: ThreadId) -> *mut Arena {
        match self.arenas.get_mut(thread.index()) {
            Some(Some(arena)) if self.on_arenas => &mut **arena,
            _ => self.keeping.as_mut().map_or(std::ptr::null_mut(), |arena| &mut **arena),
        }
    }

    fn begin(&mut self) {
        self.execution.begin();
        self.runs += 1;
        // Memory of our own is made anew in each run, tags included, so one stamp will do; and the
        // state of a loop, which may have objects on its stack, is the same in every run.
        let run = if self.on_arenas { crate::tag::EVERY_RUN } else { self.runs };
        self.stamp = crate::tag::stamp(self.id, run);
        self.cells.clear();
        self.known_cells.clear();
        self.cell_addresses.clear();
        self.addresses.clear();
        self.arenas.iter_mut().flatten().for_each(|arena| arena.reset());
        self.known.resize(self.execution.graph().location_count(), Known::NONE);
        self.panics.clear();
        self.data.fill(std::ptr::null());
        self.spins.begin();
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        self.want_block();
    }

    /// Tells the memory of threads which allocation the recorder wants.
    fn want_block(&mut self) {
        if let Some((thread, number)) = self.recorder.as_ref().and_then(|recorder| recorder.block)
            && let Some(Some(arena)) = self.arenas.get_mut(thread.index())
        {
            arena.wanted = number;
        }
    }

    /// Whether the addresses of all objects are noted in this run.
    pub(crate) fn is_careful(&self) -> bool {
        self.careful || self.recorder.is_some()
    }

    /// Chooses the path that the ops of a thread take: loops are watched from where on nothing that is
    /// recorded changes anything.
    #[inline(always)]
    fn choose_path(&mut self, thread: ThreadId) {
        let mut watched = self.is_careful();
        self.watch_from = NEVER;
        if self.spins.any_suspects() && !watched {
            self.watch_from = self.spins.idle_from(self.execution.graph(), thread);
            watched = self.execution.position(thread) >= self.watch_from;
        }
        current::watch(watched);
    }

    /// Makes the fiber and the memory of a thread, if it has none yet.
    #[inline(never)]
    #[cold]
    fn equip(&mut self, thread: ThreadId) -> Result<(), Error> {
        let this: *mut Session = self;
        while self.fibers.len() <= thread.index() {
            let next = ThreadId(self.fibers.len() as u32);
            self.fibers.push(Fiber::new(next, this, self.limits.stack_size)?);
            self.arenas.push(Arena::take());
            self.jobs.push(None);
        }
        self.want_block();
        Ok(())
    }

    fn end(&mut self) -> Outcome {
        let outcome = self.execution.end();
        let leak = if matches!(outcome, Outcome::Complete) { self.leak() } else { None };
        if !matches!(outcome, Outcome::Complete) {
            self.fibers.iter_mut().filter(|fiber| fiber.busy).for_each(Fiber::abandon);
            self.jobs.iter_mut().for_each(|job| std::mem::forget(job.take()));
        }
        self.statics.restore();
        self.worn |= std::thread::panicking();
        match (self.judge(outcome), leak) {
            (Outcome::Complete, Some(leak)) => Outcome::Violated(Box::new(leak)),
            (outcome, _) => outcome,
        }
    }

    /// Turns an outcome into the violation that it shows, if it shows one.
    fn judge(&mut self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Complete | Outcome::Blocked(_) => {
                let graph = self.execution.graph();
                let stuck = match &outcome {
                    Outcome::Blocked(waiters) => stuck::judge(graph, waiters),
                    _ => None,
                };
                // In an execution that is given up, somebody might still have looked at a panic.
                let over = stuck.is_some() || matches!(outcome, Outcome::Complete);
                let panic = self.panics.iter().find(|panic| over && panic.is_unhandled());
                let violation = panic.map(Panic::violation).or_else(|| race::in_graph(graph)).or(stuck);
                violation.map_or(outcome, |violation| Outcome::Violated(Box::new(violation)))
            }
            // A part of an execution, run again to be told about: a panic in it was not handled.
            Outcome::Ended => {
                let unhandled = self.panics.iter().find(|panic| panic.is_unhandled());
                // The part may end before the last panic has left its thread.
                let latest = self.panics.last().filter(|panic| !panic.handled);
                let panic = unhandled.or(latest).map(Panic::violation);
                panic.map_or(Outcome::Ended, |violation| Outcome::Violated(Box::new(violation)))
            }
            Outcome::Diverged(divergence) => {
                self.error.get_or_insert_with(|| diverged(&divergence));
                Outcome::Diverged(divergence)
            }
            other => other,
        }
    }

    /// Checks that the thread which has just used a location knows of its initialisation.
    #[inline(always)]
    pub(crate) fn check_published(&mut self, thread: ThreadId, op: &Op) {
        if let Some((creator, birth)) = self.known[op.addr.index()].birth(&self.arenas)
            && creator != thread
        {
            self.check_creator(thread, op, creator, birth);
        }
    }

    /// When the memory of a cell was allocated.
    pub(crate) fn birth_of_cell(&mut self, cell: u32) -> Option<(ThreadId, u32)> {
        self.known_cells[cell as usize].birth(&self.arenas)
    }

    #[inline(never)]
    fn check_creator(&mut self, thread: ThreadId, op: &Op, creator: ThreadId, birth: u32) {
        let graph = self.execution.graph();
        let index = self.execution.position(thread) - 1;
        let event = unpick_core::event::EventId { thread, index };
        if graph.hb(event)[creator.index()] > birth {
            return;
        }
        let point = Point { thread, index, site: op.site };
        let writes = graph.event(event).is_write();
        let access = Access { point, writes, atomic: true };
        let object = self.known[op.addr.index()].kind.to_string();
        self.execution.fail(Violation { kind: Kind::Unpublished { access, creator, object }, point });
    }
}

/// What an error says about a replay that went astray.
fn diverged(divergence: &Divergence) -> Error {
    let describe = |name: &str, site: Site| match site::place(site) {
        Some(place) => format!("{name} at {}:{}:{}", place.file, place.line, place.column),
        None => name.to_string(),
    };
    let nothing = || String::from("nothing more");
    Error::Diverged {
        thread: site::thread_name(divergence.thread),
        before: divergence.before.as_ref().map_or_else(nothing, |event| describe(event.name(), event.site)),
        now: divergence.now.as_ref().map_or_else(nothing, |op| describe(op.name(), op.site)),
    }
}

/// Runs one execution.
pub(crate) fn run(session: *mut Session) -> Outcome {
    // SAFETY: the caller owns the session, which is boxed and so does not move; references to it
    // end before a fiber is resumed.
    unsafe {
        (*session).begin();
        while let Some(thread) = (*session).execution.next_thread() {
            if thread.index() >= (*session).fibers.len()
                && let Err(error) = (*session).equip(thread)
            {
                (*session).error = Some(error);
                break;
            }
            resume(session, thread);
        }
        (*session).end()
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
        (*session).pulse.beat(thread);
        (*session).choose_path(thread);
        current::set(session, Some(thread));
        arena::enter(arena);
        let result = (*routine).resume(());
        arena::enter(std::ptr::null_mut());
        current::set(session, None);
        assert!(matches!(result, CoroutineResult::Yield(())), "a fiber of unpick has returned");
    }
}

/// The body of every fiber: one thread after another.
pub(crate) fn work(session: *mut Session, thread: ThreadId, yielder: &Yielder<(), ()>) {
    // SAFETY: the session outlives its fibers, and only one OS thread runs them.
    unsafe { (&mut (*session).fibers)[thread.index()].set_yielder(yielder) };
    let top = 0u8;
    // SAFETY: as above.
    unsafe { (&mut (*session).fibers)[thread.index()].set_base((&raw const top) as usize) };
    loop {
        if thread == ThreadId::MAIN {
            // SAFETY: as above; the program is not replaced while it runs.
            let program = unsafe { &(*session).program as *const Program };
            // SAFETY: as above.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| unsafe { (*program)() })) {
                crate::panics::main_panicked(&*payload);
            }
        } else {
            // SAFETY: as above.
            let job = unsafe { (&mut (*session).jobs)[thread.index()].take() };
            if let Some(job) = job {
                job();
            }
        }
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
        self.arenas.drain(..).flatten().for_each(|arena| arena.give_back());
    }
}

// SAFETY: a session is moved between OS threads only between executions, when every fiber has
// been abandoned or stands at the top of its loop.
unsafe impl Send for Session {}
