//! A check in progress: the engine, the threads of the program, and what is known of its memory.
//!
//! Everything runs on one OS thread. Ops run on the stack of the thread that takes them, and switch to another
//! thread only when that one must run. The explorer, on the stack of the process, runs between executions.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use unpick_core::error::Error;
use unpick_core::execution::{Divergence, Execution, Outcome};
use unpick_core::op::{Op, Site, ThreadId};
use unpick_core::violation::{Kind, Point, Violation};
use unpick_driver::judge;
use unpick_driver::knowledge::Knowledge;
use unpick_driver::search::{LoopLimits, Search};
use unpick_emulator::Machine;

use crate::debugger;
use crate::excuses::Excuses;
use crate::fiber::{self, Fiber};
use crate::files::Files;
use crate::frontend::Handle;
use crate::heap::{self, Block};
use crate::isolation;
use crate::mappings::Mappings;
use crate::mode::{self, Mode};
use crate::modules::Modules;
use crate::places::Places;
use crate::pool;
use crate::pthread::mutex::all::Together;
use crate::record::Recorder;
use crate::seeks::Seeks;
use crate::shadow::Shadow;
use crate::snapshot::Snapshot;
use crate::threads::{self, AtExit, Thread};
use crate::trial::{self, Trying};
use crate::unordered::Unordered;
use crate::unseen::Numbers;

/// Limits of each execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of stack for each thread.
    pub(crate) stack_size: usize,
    /// What is done about loops.
    pub(crate) loops: LoopLimits,
    /// After how many ticks of a tenth of a second without anything visible a thread is taken to run for ever.
    pub(crate) most_ticks: u32,
    /// How long a thread may be blocked in a system call.
    pub(crate) hang: Duration,
    /// Whether memory that is left behind is a violation.
    pub(crate) leaks: bool,
    /// Whether all threads must end.
    pub(crate) must_end: bool,
    /// Whether a thread that waits for a condition may wake up without a reason.
    pub(crate) spurious_wakeups: bool,
    /// Whether memory that was freed may be used again.
    pub(crate) reuse: bool,
    /// Whether reads of memory that nothing was written to are violations.
    pub(crate) uninitialised: bool,
    /// If set, random numbers are below this one, and each is explored.
    pub(crate) random: Option<u64>,
    /// Whether an hour may have passed at each look at the clock.
    pub(crate) clock_jumps: bool,
    /// Whether writes to one atomic variable that nothing orders are told.
    pub(crate) unordered_writes: bool,
    /// Whether waits with a limit on time never give up.
    pub(crate) patient: bool,
}

/// A check in progress.
pub(crate) struct Session {
    pub(crate) search: Search,
    pub(crate) limits: Limits,
    pub(crate) threads: Vec<Thread>,
    /// The thread that runs.
    pub(crate) current: ThreadId,
    pub(crate) shadow: Shadow,
    pub(crate) places: Places,
    /// Numbers for what threads have that is not in memory; no number is given twice.
    pub(crate) unseen: Numbers,
    /// Files whose offsets rounds of loops use.
    pub(crate) seeks: Seeks,
    /// The round that is being tried.
    pub(crate) trying: Option<Trying>,
    /// Tries rounds of loops.
    pub(crate) machine: Option<Machine>,
    /// How an execution in a process of its own has ended.
    pub(crate) ended: Option<Outcome>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) excuses: Excuses,
    pub(crate) unordered: Unordered,
    pub(crate) together: Together,
    /// Threads that an execution has asked for beyond those there are.
    pub(crate) wanted: usize,
    /// Functions to be called at the end of the process.
    pub(crate) at_exit: Vec<AtExit>,
    /// Those that there were when the execution began.
    pub(crate) at_exit_kept: Vec<AtExit>,
    /// Destructors of keys; 0: none, 1: the key is not in use.
    pub(crate) keys: Vec<usize>,
    /// The keys that there were when the execution began.
    pub(crate) keys_kept: Vec<usize>,
    /// Memory whose plain accesses are not looked at.
    pub(crate) ignored: Vec<(usize, usize)>,
    /// Blocks that were given up, and are freed some time.
    pub(crate) retired: Vec<usize>,
    /// Blocks of the heap in the last run that was recorded.
    pub(crate) blocks: Vec<Block>,
    pub(crate) modules: Modules,
    snapshot: Snapshot,
    files: Files,
    pub(crate) mappings: Mappings,
    explorer: Fiber,
    /// Events before the last look at whether the program makes progress.
    pub(crate) looked: (u64, u32, u32),
}

/// Bytes of stack that the engine needs.
const ROOM: usize = 1 << 14;

/// How far down the stack of the running thread may reach when the engine is called.
static LOWEST: AtomicUsize = AtomicUsize::new(0);

/// Whether the running thread must not go on: it has used up its stack, or its time.
#[inline(always)]
pub(crate) fn must_stop() -> bool {
    let here = 0u8;
    (&raw const here as usize) < LOWEST.load(Relaxed)
}

/// Stops the running thread when it next calls the engine.
pub(crate) fn stop_soon() {
    LOWEST.store(usize::MAX, Relaxed);
}

/// Whether that was asked for.
pub(crate) fn is_overdue() -> bool {
    LOWEST.load(Relaxed) == usize::MAX
}

static SESSION: AtomicPtr<Session> = AtomicPtr::new(std::ptr::null_mut());

/// The session; null before there is one.
#[inline(always)]
pub(crate) fn get() -> *mut Session {
    SESSION.load(Relaxed)
}

impl Session {
    /// Makes the session of the process.
    pub(crate) fn make(execution: Execution, limits: Limits) -> Result<*mut Session, Error> {
        fiber::prepare();
        let storage = fiber::storage();
        let main = Thread::new(pool::make_main(limits.stack_size.max(8 << 20))?);
        let session = Session {
            search: Search::new(execution, limits.loops, Knowledge::default()),
            limits,
            threads: vec![main],
            current: ThreadId::MAIN,
            shadow: Shadow::default(),
            places: Places::default(),
            unseen: Numbers::default(),
            seeks: Seeks::default(),
            trying: None,
            machine: None,
            ended: None,
            recorder: None,
            excuses: Excuses::default(),
            unordered: Unordered::default(),
            together: Together::default(),
            wanted: 0,
            at_exit: Vec::new(),
            at_exit_kept: Vec::new(),
            keys: Vec::new(),
            keys_kept: Vec::new(),
            ignored: Vec::new(),
            retired: Vec::new(),
            blocks: Vec::new(),
            modules: Modules::find(storage),
            snapshot: Snapshot::default(),
            files: Files::take(),
            mappings: Mappings::default(),
            explorer: Fiber { storage, ..Fiber::default() },
            looked: (0, 0, 0),
        };
        let session = Box::leak(Box::new(session));
        (session.at_exit, session.keys) = crate::threads::before_main();
        session.at_exit_kept.clone_from(&session.at_exit);
        session.keys_kept.clone_from(&session.keys);
        // What the unwinder does at its first use is part of every execution then, whether stacks are looked at or not.
        crate::frames::walk(0, usize::MAX);
        session.grow(4)?;
        SESSION.store(session, Relaxed);
        Ok(session)
    }

    /// Makes sure that there are so many threads. The program does not run, and its memory is as it was
    /// before its constructors.
    pub(crate) fn grow(&mut self, count: usize) -> Result<(), Error> {
        while self.threads.len() < count {
            self.threads.push(Thread::new(pool::make(self.limits.stack_size)?));
        }
        self.snapshot = Snapshot::take(&self.modules, self.threads.iter().map(|thread| thread.fiber))?;
        Ok(())
    }

    /// Brings the open files back to where they stood, if an execution was broken off in a process that shares them.
    pub(crate) fn restore_files(&mut self) {
        self.files.restore();
    }

    fn begin(&mut self) {
        self.search.begin(0, heap::settle, None);
        self.shadow.begin();
        self.places.begin();
        self.excuses.begin();
        self.together.begin();
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        // SAFETY: no thread of the program runs, so nobody reads it now.
        unsafe { threads::CLEARS = self.search.loops.places.any() };
        self.threads[0].begin_main();
    }

    /// Brings the memory of the program back to where it was before its constructors.
    fn restore(&mut self) {
        self.snapshot.restore(self.threads.iter().map(|thread| thread.ran));
        self.threads.iter_mut().for_each(Thread::clear);
        self.files.restore();
        self.mappings.restore();
        self.ignored.clear();
        self.retired.clear();
        self.at_exit.clone_from(&self.at_exit_kept);
        self.keys.clone_from(&self.keys_kept);
    }

    /// Says how the execution has ended, and brings the memory of the program back.
    pub(crate) fn end(&mut self) -> Outcome {
        let outcome = judge::judge(&mut Handle(self));
        if self.limits.unordered_writes {
            self.look_for_unordered();
        }
        crate::output::end();
        if self.recorder.is_some() {
            self.blocks = heap::blocks();
        }
        self.restore();
        outcome
    }

    /// The thread that must run now; `None` if the explorer must.
    #[inline(always)]
    fn next(&mut self) -> Option<ThreadId> {
        let next = self.search.execution.next_thread()?;
        debug_assert!(next.index() < self.threads.len(), "a thread has its fiber before it is started");
        Some(next)
    }

    /// Memory that can be reached from everywhere.
    pub(crate) fn roots(&self) -> Vec<(usize, usize)> {
        self.snapshot.ranges().collect()
    }

    /// What an error says about a replay that went astray.
    pub(crate) fn told_divergence(&self, divergence: &Divergence) -> Error {
        let describe = |op: Option<Op>| match op {
            Some(op) => format!("{} at {}", op.name(), self.told_site(op.site)),
            None => String::from("nothing more"),
        };
        let thread = thread_name(divergence.thread);
        let (before, now) = (describe(divergence.before.map(|event| event.op())), describe(divergence.now));
        if self.excuses.any_races() {
            let problem = format!(
                "what a race has read that was passed over decides what {thread} does next: {before} once, and {now} when \
                 the same was run again; this cannot be explored, so mend the race, or draw executions with `--strategy random`"
            );
            return Error::Misuse { problem };
        }
        let problem = format!(
            "the program is not deterministic: under one and the same schedule, {thread} once did `{before}` and then \
             `{now}`; look for random numbers, files, or addresses used as data{}",
            self.modules.told_unseen()
        );
        Error::Misuse { problem }
    }

    /// A place, as a mark in a text.
    pub(crate) fn told_site(&self, site: Site) -> String {
        match self.modules.code(site.0 as usize) {
            Some(code) => unpick_native_wire::mark(unpick_native_wire::Mark::Code(code)),
            None => String::from("an unknown place"),
        }
    }

    /// Ends the run with a violation of the running thread.
    pub(crate) fn fail(&mut self, kind: Kind, site: Site) {
        trial::stop();
        let thread = self.current;
        let point = Point { thread, index: self.search.execution.position(thread), site };
        let violation = Violation { kind, point };
        debugger::stop(&violation);
        self.search.execution.fail(violation);
    }
}

/// Runs one execution.
pub(crate) fn run(session: *mut Session) -> Outcome {
    if isolation::is_on() { isolation::run(session) } else { run_here(session) }
}

/// Runs one execution in this process.
pub(crate) fn run_here(session: *mut Session) -> Outcome {
    // SAFETY: the session is never freed, and no reference to it is held across a switch.
    unsafe {
        (*session).begin();
        let mut next = (*session).next();
        while let Some(thread) = next {
            (*session).current = thread;
            let fiber = resumed(session, thread);
            fiber::switch(&raw mut (*session).explorer.stack, &fiber);
            mode::set(Mode::Engine);
            // The explorer runs if nobody else can, or if it is to try a round.
            next = trial::run(session);
        }
        (*session).end()
    }
}

/// The fiber of a thread that is about to run.
unsafe fn resumed(session: *mut Session, thread: ThreadId) -> Fiber {
    // SAFETY: as in `run`.
    let thread = unsafe { &mut (&mut (*session).threads)[thread.index()] };
    thread.ran = true;
    LOWEST.store(thread.fiber.limit + ROOM, Relaxed);
    thread.fiber
}

/// Lets the engine be called on any stack, until a thread runs again.
pub(crate) fn allow_any_stack() {
    LOWEST.store(0, Relaxed);
}

/// Lets others run until the running thread is named again.
pub(crate) fn depart(session: *mut Session) {
    trial::stop();
    // SAFETY: as in `run`.
    unsafe {
        let current = (*session).current;
        let next = if (*session).search.loops.trial.is_some() { None } else { (*session).next() };
        if next == Some(current) {
            return;
        }
        let open = (*session).search.loops.is_open(current);
        if open {
            (*session).search.loops.leave(&(*session).search.execution, current);
        }
        let fiber = match next {
            Some(next) => {
                (*session).current = next;
                resumed(session, next)
            }
            None => (*session).explorer,
        };
        let save = &raw mut (&mut (*session).threads)[current.index()].fiber.stack;
        fiber::switch(save, &fiber);
        if open {
            (*session).search.loops.enter(current);
        }
    }
}

/// Lets others run; the running thread does not go on in this execution.
pub(crate) fn depart_for_good(session: *mut Session) -> ! {
    loop {
        depart(session);
    }
}

/// How a thread is called.
pub(crate) fn thread_name(thread: ThreadId) -> String {
    if thread == ThreadId::MAIN { String::from("main") } else { thread.to_string() }
}
