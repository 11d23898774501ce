//! Rounds of loops that are run once more in the emulator.
//!
//! The thread stands at an op, on its fiber, and the worker runs the emulator on its own stack. What the thread's code
//! asks the runtime for is answered here; all other code is the program's, or as good as that.
//!
//! The code allocates from the thread's arena, as it does in earnest. What the arena knows of its blocks is none of the
//! program's, and is rewound in the end.

use std::ops::Range;

use unpick_core::op::{Op, Site, ThreadId, Value};
use unpick_emulator::{Enter, Host, Machine, Obstacle, RDI, RSI};
use unpick_loops::{Home, Trial};

use crate::arena::{Arena, Mark};
use crate::current::place_of;
use crate::ops::{Request, Since};
use crate::session::Session;
use crate::tag::Tag;
use crate::{arena, clocks, current, loaded, locals, memory, ops, registers, shared, statics};

/// What rounds are tried with.
#[derive(Debug)]
pub(crate) struct Trials {
    machine: Option<Machine>,
    /// What the code allocates from of the thread that came last to a suspect place, or null.
    pub(crate) arena: *mut Arena,
}

impl Default for Trials {
    fn default() -> Trials {
        Trials { machine: None, arena: std::ptr::null_mut() }
    }
}

impl Drop for Trials {
    fn drop(&mut self) {
        self.machine.take().into_iter().for_each(Machine::give_back);
    }
}

/// The memory of the thread whose round is tried, and how it stands.
#[derive(Clone, Copy)]
struct Memory {
    arena: *mut Arena,
    mark: Mark,
}

impl Memory {
    /// Nothing that has no room is tried: the thread would have memory of the system heap.
    fn new(arena: *mut Arena) -> Option<Memory> {
        // SAFETY: it is null or the arena of a thread, which lives as long as the session.
        let known = unsafe { arena.as_ref() }.filter(|arena| arena.has_room())?;
        Some(Memory { arena, mark: known.mark() })
    }

    /// Forgets what was allocated meanwhile.
    fn rewind(self) {
        // SAFETY: as above; nothing of the program runs.
        unsafe { (*self.arena).rewind(self.mark) };
    }

    /// Lets the code allocate from here while it runs. A round must leave all blocks as they were, unless it only
    /// looks ahead.
    fn lend(
        self,
        trial: &mut Trial,
        run: impl FnOnce(&mut Trial) -> Result<(), Obstacle>,
    ) -> Result<(), Obstacle> {
        self.rewind();
        // SAFETY: as above. No call stack is kept of what is allocated in a trial.
        let [known, notes] = unsafe {
            (*self.arena).wanted = usize::MAX;
            (*self.arena).places()
        };
        trial.set_aside([arena::place(), known, notes]);
        arena::enter(self.arena);
        let ran = run(trial);
        let last = arena::enter(std::ptr::null_mut());
        ran?;
        // SAFETY: as above; the code does not run any more.
        let arena = unsafe { &*self.arena };
        if let Some(memory) = arena.since(self.mark) {
            trial.allocated(memory);
        }
        if !trial.looks_ahead() && (last != self.arena || !arena.is_as_at(self.mark)) {
            trial.stray();
            return Err(Obstacle::Host("leaves other blocks than there were"));
        }
        Ok(())
    }
}

/// What a word of a thread stands for if it points to a block that the thread has allocated and freed.
pub(crate) fn settle(thread: ThreadId, word: u64) -> Option<u64> {
    let address = word as usize;
    if !arena::is_ours(address) {
        return None;
    }
    let (session, _) = current::get()?;
    // SAFETY: the session outlives its fibers; whoever asks changes neither the list of arenas nor what is in them.
    let arenas = unsafe { &(*session).heap.arenas };
    let arena = arenas.get(thread.index())?.as_ref()?;
    arena.contains(address).then(|| arena.settle(thread, address))?
}

/// Answers what a round asks the runtime for.
struct Runtime<'a> {
    trial: &'a mut Trial,
    session: &'a Session,
    memory: Option<Memory>,
}

/// Whether a function of ours preserves registers and returns to where it was called from, whatever becomes of its op.
pub(crate) fn returns(function: usize) -> bool {
    type Entry = unsafe extern "C-unwind" fn(*mut Request<'_>) -> Value;
    let entries: [Entry; 4] = [registers::watched, ops::unwatched, ops::sampled, ops::looking];
    entries.iter().any(|entry| *entry as *const () as usize == function)
        || function == ops::other_watched as *const () as usize
        || Since::functions().contains(&function)
        || ops::accesses().contains(&function)
        || function == ops::position as *const () as usize
        || function == ops::failed_spuriously as *const () as usize
}

impl Host for Runtime<'_> {
    fn enter(&mut self, machine: &mut Machine) -> Enter {
        let arena = arena::enter(std::ptr::null_mut());
        let entered = self.answer(machine, arena);
        arena::enter(arena);
        entered
    }
}

impl Runtime<'_> {
    /// Answers a function; `arena`: what the code allocates from now.
    fn answer(&mut self, machine: &mut Machine, arena: *mut Arena) -> Enter {
        let function = machine.registers.rip as usize;
        let argument = machine.registers.general[RDI] as usize;
        if function == registers::watched as *const () as usize {
            if machine.touch(argument, size_of::<Request<'_>>(), true).is_err() {
                return Enter::GiveUp("an operation has no request");
            }
            // SAFETY: code that calls this function passes a request, and the bytes can be written to.
            return self.request(machine, unsafe { &mut *(argument as *mut Request<'_>) });
        }
        if function == ops::other_watched as *const () as usize {
            if machine.touch(argument, size_of::<Op>(), false).is_err() {
                return Enter::GiveUp("an operation has no request");
            }
            // SAFETY: as above, with an op.
            let op = unsafe { *(argument as *const Op) };
            return self.op(machine, &op);
        }
        if Since::functions().contains(&function) {
            return self.since(machine, function, argument);
        }
        if function == ops::position as *const () as usize {
            return self.trial.entered(machine, self.trial.position().into());
        }
        if function == ops::failed_spuriously as *const () as usize {
            let failed = self.trial.failed_spuriously(self.session.search.execution.graph());
            return self.trial.entered(machine, failed.into());
        }
        // What a thread knows is what it knew in the round, since it got the same answers.
        if function == shared::knows_all_ended as *const () as usize {
            return self.trial.entered(machine, shared::knows_all_ended().into());
        }
        // The values are in memory of the program, and how many there are is seen elsewhere.
        if function == locals::locate as *const () as usize {
            return self.trial.entered(machine, locals::locate(argument) as u64);
        }
        if function == ops::flushes_stores as *const () as usize {
            return self.trial.entered(machine, ops::flushes_stores().into());
        }
        if function == shared::oldest_value as *const () as usize {
            let init = machine.registers.general[RSI];
            // SAFETY: code that calls this function passes a tag.
            let value = unsafe { shared::oldest_value(argument as *const Tag, init) };
            return self.trial.entered(machine, value);
        }
        if function == clocks::look as *const () as usize {
            return self.look(machine, Site(argument as u64));
        }
        if function == clocks::pass as *const () as usize {
            self.trial.spend_time();
            return self.trial.entered(machine, 0);
        }
        // The heap of the process belongs to other OS threads as well, which do not stop meanwhile.
        let heap = [
            libc::malloc as *const () as usize,
            libc::calloc as *const () as usize,
            libc::realloc as *const () as usize,
            libc::free as *const () as usize,
            libc::posix_memalign as *const () as usize,
        ];
        if heap.contains(&function) {
            return Enter::GiveUp("allocates memory");
        }
        if function == memory::free as *const () as usize {
            let memory = self.memory.filter(|memory| memory.arena == arena);
            return match memory {
                Some(memory) => self.free(machine, memory, argument),
                None => Enter::GiveUp("frees memory elsewhere"),
            };
        }
        // Accesses were checked in the round itself.
        if ops::accesses().contains(&function) {
            return self.trial.entered(machine, 0);
        }
        Enter::Code
    }

    /// Frees a block. If the round has not allocated it, it leaves something behind.
    fn free(&mut self, machine: &mut Machine, memory: Memory, address: usize) -> Enter {
        // SAFETY: the arena of the thread, which lives as long as the session; the code that uses it does not run now.
        let arena = unsafe { &mut *memory.arena };
        let block = if arena.contains(address) { arena.find(address) } else { None };
        let live = block.filter(|&(number, within)| within == 0 && arena.notes()[number].freed().is_none());
        let Some((number, _)) = live else { return Enter::GiveUp("frees what is no block of its own") };
        // The last part of a block is filled up.
        let size = arena.notes()[number].size().next_multiple_of(16);
        if machine.touch(address, size as usize, true).is_err() {
            return Enter::GiveUp("frees memory that is not there");
        }
        if arena.is_since(memory.mark, number) {
            arena.free(number, self.trial.thread, self.trial.position());
        } else if self.trial.looks_ahead() {
            arena.pretend_to_free(number);
        } else {
            self.trial.stray();
        }
        self.trial.entered(machine, 0)
    }

    /// Answers an op on an object.
    fn request(&mut self, machine: &mut Machine, request: &mut Request<'_>) -> Enter {
        let tag = &raw const *request.object.tag;
        if machine.touch(tag as usize, size_of::<Tag>(), false).is_err() {
            return Enter::GiveUp("an operation has no object");
        }
        match self.session.known_location(request.object.tag) {
            Some(addr) => {
                // As the op itself does.
                request.op.addr = addr;
                self.op(machine, &request.op)
            }
            None => Enter::GiveUp("an operation is on another object than before"),
        }
    }

    fn op(&mut self, machine: &mut Machine, op: &Op) -> Enter {
        let value = self.trial.op(&self.session.search.execution, op);
        self.trial.entered(machine, value.unwrap_or_default())
    }

    /// Tells what time it is.
    fn look(&mut self, machine: &mut Machine, site: Site) -> Enter {
        self.trial.look(&self.session.search.execution, site);
        let now = self.session.clocks.of(self.trial.thread);
        self.trial.entered(machine, now.as_nanos() as u64)
    }

    /// How far a thread is differs from round to round, so what it notes of that is not part of its state.
    fn since(&mut self, machine: &mut Machine, function: usize, argument: usize) -> Enter {
        let [begin, is_past, end] = Since::functions();
        if machine.touch(argument, size_of::<Since>(), function != is_past).is_err() {
            return Enter::GiveUp("a position has no place");
        }
        // SAFETY: code that calls these functions passes such an object, which can be written to.
        let since = unsafe { &*(argument as *const Since) };
        let now = self.trial.position();
        let past = since.get() != now;
        if function == begin {
            since.set(now);
        } else if function == end {
            since.set(0);
        }
        self.trial.entered(machine, past.into())
    }
}

impl Session {
    /// Tries the round that a thread has asked about.
    ///
    /// It is called by the worker, while the thread stands at its op.
    #[cold]
    pub(crate) fn try_round(&mut self) {
        let Some(trial) = self.search.loops.trial.take() else { return };
        let mut machine = self.watching.trials.machine.take().unwrap_or_else(Machine::take);
        let memory =
            Memory::new(self.watching.trials.arena).filter(|memory| self.arena(trial.thread) == memory.arena);
        let this: *mut Session = self;
        current::set(this, Some(trial.thread));
        self.choose_paths(trial.thread);
        let mut rounds = std::mem::take(&mut self.search.loops.rounds);
        let (session, graph) = (&*self, self.search.execution.graph());
        let mut run = |trial: &mut Trial, machine: &mut Machine| {
            let first = trial.begin(graph);
            trial.set_out(machine, first);
            let budget = trial.budget();
            // SAFETY: the fiber of the thread is suspended, and nothing else runs on this OS thread; what the code writes
            // is put back.
            let mut run =
                |trial: &mut Trial| unsafe { machine.run(&mut Runtime { trial, session, memory }, budget) };
            match memory {
                Some(memory) => memory.lend(trial, run),
                None => run(trial),
            }
        };
        // What is below the frame is nobody's when the thread stands at its op.
        let dead = self.fibers[trial.thread.index()].floor()..trial.frame.stack();
        let home = |address| self.home(address);
        // SAFETY: as above.
        let (trial, verdict) =
            unsafe { trial.judge(&mut rounds, graph, &mut machine, dead, &home, &mut run) };
        self.search.loops.rounds = rounds;
        self.watching.trials.machine = Some(machine);
        memory.into_iter().for_each(Memory::rewind);
        self.search.tried(&trial, &verdict);
        current::set(this, None);
    }

    /// What memory an address is in.
    fn home(&self, address: usize) -> Home {
        if arena::place().contains(&address) {
            Home::Checker
        } else if arena::is_ours(address)
            || self.fibers.iter().any(|fiber| fiber.contains(address))
            || statics::is_static(address)
            || is_of_os_thread(address)
            || place_of(self).contains(&address)
        {
            Home::Lasting
        } else {
            Home::Passing
        }
    }
}

/// Whether the address is in what the calling OS thread has for itself: thread-locals, and what the C library keeps with
/// them.
fn is_of_os_thread(address: usize) -> bool {
    /// How far that reaches behind the thread-locals.
    const BLOCK: usize = 2048;
    let place = |place: &Range<usize>| (place.start..place.end + BLOCK).contains(&address);
    loaded::find(|info, header| loaded::place_of_thread(info, header).filter(place)).is_some()
}
