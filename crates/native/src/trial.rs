//! Rounds of loops that are run once more in the emulator.
//!
//! The thread stands at an op, on its own stack, and the explorer runs the emulator on another. Functions of ours that the
//! thread's code calls are carried out in earnest, but their ops are answered by what the round got, and
//! nothing that they do counts. Those that could do more than ask are not called.

use std::arch::naked_asm;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use unpick_core::execution::Execution;
use unpick_core::op::{Op, ThreadId, Value};
use unpick_core::violation::Point;
use unpick_emulator::{
    Enter, Host, Machine, Obstacle, R8, R9, R12, R13, R14, R15, RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP,
};
use unpick_loops::{Home, Trial};

use crate::abi_plain;
use crate::entry::{self, Entry};
use crate::heap::{self, Mark, Owner};
use crate::isolation;
use crate::memory;
use crate::mode::{self, Mode};
use crate::own_memory;
use crate::places::{Key, Places};
use crate::seeks::{self, Offsets};
use crate::session::{self, Session};

/// Modules whose functions, and those of modules in them, may be called in a trial: they do nothing but take ops, and say what bytes of the program they use.
const SAFE: [&str; 7] = [
    "abi_atomic::",
    "random::",
    "time::",
    "pthread::cond::",
    "pthread::mutex::",
    "pthread::semaphore::",
    "pthread::spinlock::",
];

/// Why a round is not tried that calls others.
const MORE: &str = "calls a function that does more than ask";

/// A round that is being tried.
#[derive(Debug)]
pub(crate) struct Trying {
    pub(crate) trial: Trial,
    machine: *mut Machine,
    /// Whether the round uses memory that is not there.
    lost: bool,
    /// Where its own blocks begin.
    mark: Mark,
    /// Where files stood when it came to use their offsets.
    offsets: Offsets,
}

impl Trying {
    /// Answers an op; `key`: the bytes that it is about.
    pub(crate) fn op(&mut self, places: &Places, execution: &Execution, key: Option<Key>, op: &Op) -> Value {
        let mut op = *op;
        if let Some(key) = key {
            let Some(addr) = places.known(key) else {
                self.trial.stray();
                return 0;
            };
            (op.addr, op.width) = (addr, key.width.min(8) as u8);
        }
        self.trial.op(execution, &op).unwrap_or_default()
    }

    /// Notes that a function of ours is about to use bytes of the program.
    /// If they are not there, the call ends.
    pub(crate) fn touch(&mut self, address: usize, size: usize, writes: bool) {
        // SAFETY: the machine outlives the trial, and does not run while a function of ours does.
        self.lost |= unsafe { (*self.machine).touch(address, size, writes) }.is_err();
        if self.lost && ESCAPE.load(Relaxed) != 0 {
            // SAFETY: the call is still on the stack, and what it has on it is given up.
            unsafe { escape() }
        }
    }
}

impl Trying {
    /// A block for the round: what it would get in earnest. `filled`: as memory that nothing was written to.
    pub(crate) fn allocate(&mut self, size: usize, align: usize, owner: Owner, filled: bool) -> usize {
        let block = heap::allocate(size, align, Some(owner));
        if block == 0 {
            return self.stray();
        }
        self.touch(block, size, true);
        if filled {
            heap::undefine(block);
        }
        block
    }

    /// The round frees a block: one that it has allocated.
    pub(crate) fn free(&mut self, address: usize) {
        let blocks = heap::since(self.trial.thread, self.mark);
        if !blocks.iter().any(|block| block.start == address && block.freed.is_none()) {
            self.stray();
            return;
        }
        let Trial { thread, to: index, site, .. } = self.trial;
        heap::free(address, Point { thread, index, site });
    }

    /// The round does what is not followed: the call that does it ends.
    fn stray(&mut self) -> usize {
        self.trial.stray();
        if ESCAPE.load(Relaxed) != 0 {
            // SAFETY: the call is still on the stack, and what it has on it is given up.
            unsafe { escape() }
        }
        0
    }
}

/// Notes that a function of ours is about to write to bytes of the program, if that is part of a trial.
pub(crate) fn touch(address: usize, size: usize) {
    if ESCAPE.load(Relaxed) == 0 {
        return;
    }
    // SAFETY: there is a session, and nobody else uses it.
    if let Some(trying) = unsafe { &mut (*session::get()).trying } {
        trying.touch(address, size, true);
    }
}

/// Where the stack was when a function of ours was called in a trial; 0: none is.
static ESCAPE: AtomicUsize = AtomicUsize::new(0);

/// Calls a function with six arguments; returns what it returns, or anything if it is [stopped](stop).
#[unsafe(naked)]
unsafe extern "C" fn call(function: *const (), arguments: *const usize) -> u64 {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rip + {escape}], rsp",
        "sub rsp, 8",
        "mov rax, rdi",
        "mov r10, rsi",
        "mov rdi, [r10]",
        "mov rsi, [r10 + 8]",
        "mov rdx, [r10 + 16]",
        "mov rcx, [r10 + 24]",
        "mov r8, [r10 + 32]",
        "mov r9, [r10 + 40]",
        "call rax",
        "add rsp, 8",
        "mov qword ptr [rip + {escape}], 0",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        escape = sym ESCAPE,
    )
}

#[unsafe(naked)]
unsafe extern "C" fn escape() -> ! {
    naked_asm!(
        "mov rsp, [rip + {escape}]",
        "mov qword ptr [rip + {escape}], 0",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        escape = sym ESCAPE,
    )
}

/// Ends the call of a function of ours in a trial, if there is one: it is about to do what does not belong there.
#[inline(always)]
pub(crate) fn stop() {
    if ESCAPE.load(Relaxed) != 0 {
        leave_call();
    }
}

/// The answer to an op. If the round is over, the call that has asked for it ends here: whatever it would do with an
/// answer is not part of the round.
pub(crate) fn answered(trying: &Trying, value: Value) -> Value {
    if trying.trial.is_over() && ESCAPE.load(Relaxed) != 0 {
        // SAFETY: the call is still on the stack, and what it has on it is given up.
        unsafe { escape() }
    }
    value
}

#[cold]
fn leave_call() {
    // SAFETY: there is a session, and nobody else uses it.
    if let Some(trying) = unsafe { &mut (*session::get()).trying } {
        trying.trial.stray();
    }
    // SAFETY: the call is still on the stack, and what it has on it is given up.
    unsafe { escape() }
}

/// Answers what a round asks for.
struct Runtime {
    session: *mut Session,
}

impl Runtime {
    /// Carries out a function of ours.
    fn carry_out(&self, machine: &mut Machine, target: *const (), arguments: [usize; 6], back: u64) -> Enter {
        let general = &machine.registers.general;
        let frame =
            [general[R15], general[R14], general[R13], general[R12], general[RBP], general[RBX], back];
        entry::set_frame(&raw const frame as usize);
        mode::set(Mode::Program);
        // SAFETY: the target is of a function with at most six arguments, which are those of the code.
        let value = unsafe { call(target, arguments.as_ptr()) };
        mode::set(Mode::Engine);
        // SAFETY: the session is never freed, and nobody else uses it now.
        let Some(trying) = (unsafe { &(*self.session).trying }) else {
            return Enter::GiveUp("there is no trial");
        };
        if trying.lost {
            return Enter::GiveUp("uses memory that is not there");
        }
        trying.trial.entered(machine, value)
    }

    /// Carries out `lseek`. The offset is put back at the end.
    fn seek(&self, machine: &mut Machine) -> Enter {
        let [file, to, whence] = [RDI, RSI, RDX].map(|register| machine.registers.general[register]);
        // SAFETY: the session is never freed, and nobody else uses these parts of it now.
        let (seeks, trying) = unsafe { (&mut (*self.session).seeks, &mut (*self.session).trying) };
        let Some(trying) = trying else { return Enter::GiveUp("there is no trial") };
        let file = file as i32;
        if !seeks.add(file, trying.trial.thread) {
            return Enter::GiveUp("uses the offset of a file that others use");
        }
        seeks::note(&mut trying.offsets, file);
        match seeks::seek(file, to as i64, whence as i32) {
            Some(offset) => trying.trial.entered(machine, offset as u64),
            None => Enter::GiveUp("seeks in vain"),
        }
    }
}

fn is_safe(entry: &Entry) -> bool {
    let module = entry.module.trim_start_matches("unpick_native::");
    SAFE.iter().any(|safe| module.starts_with(safe)) || memory::may_be_tried(entry.target)
}

/// Whether a function of ours preserves registers and returns to where it was called from, whatever becomes of its op.
pub(crate) fn returns(function: usize) -> bool {
    let is_plain = |entry: &Entry| {
        let module = entry.module.trim_start_matches("unpick_native::");
        module.starts_with("abi_atomic::") || module.starts_with("abi_plain::")
    };
    entry::all().iter().any(|entry| entry.address as usize == function && is_plain(entry))
}

impl Host for Runtime {
    fn enter(&mut self, machine: &mut Machine) -> Enter {
        let function = machine.registers.rip as *const ();
        if function == libc::lseek as *const () {
            return self.seek(machine);
        }
        let Some(entry) = entry::all().iter().find(|entry| entry.address == function) else {
            return Enter::Code;
        };
        let general = machine.registers.general;
        let arguments = [RDI, RSI, RDX, RCX, R8, R9].map(|register| general[register] as usize);
        if let Some(entered) = abi_plain::repeated(entry.target, arguments, machine) {
            return entered;
        }
        if entry.module.ends_with("abi_plain::exports") {
            return Enter::Return(0);
        }
        if !is_safe(entry) {
            return Enter::GiveUp(MORE);
        }
        // SAFETY: a call has just put the address there to which it returns.
        let back = unsafe { *(general[RSP] as *const u64) };
        self.carry_out(machine, entry.target, arguments, back)
    }
}

/// Tries the round that the running thread has asked about; the thread goes on then. `None`: there is none, and the
/// explorer runs since nobody else can.
pub(crate) fn run(session: *mut Session) -> Option<ThreadId> {
    // SAFETY: the session is never freed, and no thread of the program runs.
    let s = unsafe { &mut *session };
    let trial = s.search.loops.trial.take()?;
    let thread = trial.thread;
    // What a process of its own has mapped is gone with it.
    let kept = if isolation::is_on() { None } else { s.machine.take() };
    let mut machine = kept.unwrap_or_default();
    unpick_emulator::keep_in_allocator();
    session::allow_any_stack();
    let fiber = s.threads[thread.index()].fiber;
    let dead = fiber.limit..trial.frame.stack();
    let own = own_memory::range();
    // SAFETY: as above; nobody else uses this part of the session.
    let mapped = unsafe { &(*session).mappings };
    let home = |address: usize| match address {
        _ if (own.0..own.1).contains(&address) => Home::Checker,
        _ if mapped.contains(address) => Home::Passing,
        _ => Home::Lasting,
    };
    let mark = heap::mark(thread);
    let mut run = |trial: &mut Trial, machine: &mut Machine| make(session, trial, machine, mark);
    let mut rounds = std::mem::take(&mut s.search.loops.rounds);
    // SAFETY: as above; a trial changes nothing of the execution.
    let graph = unsafe { &(*session).search.execution }.graph();
    // SAFETY: the thread does not run, nor does anybody else in this process.
    let (trial, verdict) = unsafe { trial.judge(&mut rounds, graph, &mut machine, dead, &home, &mut run) };
    heap::rewind(thread, mark);
    // SAFETY: as above.
    let s = unsafe { &mut *session };
    s.search.loops.rounds = rounds;
    s.machine = Some(machine).filter(|_| !isolation::is_on());
    s.search.tried(&trial, &verdict);
    Some(thread)
}

/// Makes a round in the emulator, from the call at which its thread stands. Its blocks, which come after the mark, stay for whoever
/// looks at what it has done; those of another attempt are forgotten.
fn make(session: *mut Session, trial: &mut Trial, machine: &mut Machine, mark: Mark) -> Result<(), Obstacle> {
    heap::rewind(trial.thread, mark);
    // SAFETY: the session is never freed, and whoever calls uses other parts of it meanwhile.
    let (trying, known) =
        unsafe { (&mut (*session).trying, &mut (&mut (*session).threads)[trial.thread.index()]) };
    *trying = Some(Trying {
        trial: *trial,
        machine: &raw mut *machine,
        lost: false,
        mark,
        offsets: Offsets::default(),
    });
    let (fiber, call, kept) = (known.fiber, known.call, known.unseen());
    let mut host = Runtime { session };
    trial.set_out(machine, 0);
    machine.use_storage(fiber.storage);
    // The function at which the thread stands gets its answer first.
    let first = entry::all().iter().find(|entry| entry.target as usize == call.target);
    let entered = match first.filter(|first| is_safe(first)) {
        Some(first) => host.carry_out(machine, first.target, call.arguments, trial.frame.returns_to()),
        None => Enter::GiveUp(MORE),
    };
    let ran = match entered {
        Enter::Return(value) => {
            machine.registers.general[RAX] = value;
            // SAFETY: the thread does not run, nor does anybody else in this process; what the code writes is put back
            // by whoever calls, and the stack is that of the thread.
            unsafe { machine.run(&mut host, trial.budget()) }
        }
        Enter::GiveUp(reason) => Err(Obstacle::Host(reason)),
        Enter::Code | Enter::End => Err(Obstacle::Host("the round has no beginning")),
    };
    // SAFETY: as above.
    let (trying, known) =
        unsafe { (&mut (*session).trying, &mut (&mut (*session).threads)[trial.thread.index()]) };
    let mut leaves = known.set_unseen(kept);
    if let Some(trying) = trying.take() {
        *trial = trying.trial;
        leaves |= seeks::put_back(&trying.offsets);
        if trying.offsets != Offsets::default() {
            // SAFETY: as above. All of that is as it was when the round began.
            trial.use_hidden_as(unsafe { &mut *session }.hidden(trial.thread));
        }
    }
    let blocks = heap::since(trial.thread, mark);
    if let (Some(first), Some(last)) = (blocks.first(), blocks.last()) {
        leaves |= blocks.iter().any(|block| block.freed.is_none());
        trial.allocated(first.start..last.start + last.size);
    }
    if leaves {
        trial.stray();
        return Err(Obstacle::Host("changes what is not in memory"));
    }
    ran
}
