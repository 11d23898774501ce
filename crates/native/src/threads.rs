//! The life of threads: how they begin and end, and what belongs to them.

use std::cell::UnsafeCell;

use unpick_core::op::{Op, Site, ThreadId};
use unpick_core::violation::{Kind, Wait};

use crate::constructors;
use crate::entry::{Call, entries};
use crate::fiber::Fiber;
use crate::mode::{self, Mode};
use crate::ops::{self, Caller};
use crate::places::Key;
use crate::real::pass;
use crate::seeks::Offsets;
use crate::session::{self, depart_for_good};
use crate::sys;
use crate::unseen::Unseen;

/// A thread of the program.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) fiber: Fiber,
    /// Whether it has run in this execution.
    pub(crate) ran: bool,
    /// What it has to do, and with what.
    work: (usize, usize),
    /// What it returned.
    pub(crate) result: usize,
    /// Where its handlers are, for when it is.
    pub(crate) handlers: Vec<usize>,
    /// Whether nobody may wait for it.
    detached: bool,
    /// Whether somebody has waited for it.
    joined: bool,
    /// Destructors of its thread-local objects.
    destructors: Vec<(usize, usize)>,
    /// What it keeps under each key.
    keys: Vec<usize>,
    /// Locks that it reads through, and how often.
    pub(crate) reads: Vec<(usize, u32)>,
    /// How many random numbers it has asked for.
    pub(crate) drawn: u64,
    /// Where its random numbers start, if it has said so.
    pub(crate) seed: Option<u32>,
    /// Where its clock stands, in nanoseconds.
    pub(crate) clock: u64,
    /// Whether it waits inside a function of the C library, which looks again and again.
    pub(crate) inside: bool,
    /// How many events it had when it last said that it achieves nothing.
    pub(crate) spun: u32,
    /// How many events it had had when it last slept or let others go first.
    pub(crate) slept: u32,
    /// Memory that ops have used and that it has written to since its last op.
    pub(crate) dirty: Vec<(Key, Site)>,
    /// The call in which a round of it is to be tried.
    pub(crate) call: Call,
}

impl Thread {
    /// A thread that has not begun.
    pub(crate) fn new(fiber: Fiber) -> Thread {
        Thread {
            fiber,
            ran: false,
            work: (0, 0),
            result: 0,
            handlers: Vec::new(),
            detached: false,
            joined: false,
            destructors: Vec::new(),
            keys: Vec::new(),
            reads: Vec::new(),
            drawn: 0,
            seed: None,
            clock: 0,
            inside: false,
            spun: 0,
            slept: 0,
            dirty: Vec::new(),
            call: Call::default(),
        }
    }

    /// Makes the main thread begin when it is next switched to.
    pub(crate) fn begin_main(&mut self) {
        self.keys.clone_from(&before().values);
        self.begin(0, 0);
    }

    /// Makes it begin when it is next switched to.
    fn begin(&mut self, function: usize, argument: usize) {
        self.work = (function, argument);
        self.fiber.begin();
    }

    /// What belongs to its state and is not in memory, but for offsets of files: its clock, and what random numbers come next.
    pub(crate) fn unseen(&self) -> Unseen {
        let Thread { clock, seed, drawn, .. } = *self;
        Unseen { clock, seed, drawn, offsets: Offsets::default() }
    }

    /// Puts that back; whether it was something else.
    pub(crate) fn set_unseen(&mut self, to: Unseen) -> bool {
        let before = self.unseen();
        Unseen { clock: self.clock, seed: self.seed, drawn: self.drawn, .. } = to;
        before != to
    }

    /// Forgets the execution.
    pub(crate) fn clear(&mut self) {
        self.ran = false;
        self.detached = false;
        self.joined = false;
        self.result = 0;
        self.handlers.clear();
        self.destructors.clear();
        self.keys.clear();
        self.reads.clear();
        self.drawn = 0;
        self.seed = None;
        self.clock = 0;
        self.inside = false;
        self.spun = 0;
        self.slept = 0;
        self.dirty.clear();
    }
}

/// A function and its argument, as they are returned in two registers.
#[repr(C)]
pub(crate) struct Work {
    function: usize,
    argument: usize,
}

/// Where `main` is, and its arguments.
pub(crate) static mut MAIN: usize = 0;
pub(crate) static mut ARGUMENTS: [usize; 3] = [0; 3];
/// What comes before `main` and gets the same arguments; a zero comes last.
pub(crate) static mut CONSTRUCTORS: *const usize = std::ptr::null();

/// Whether a stack is cleared before the program's function gets it, as far as small functions use it. What others have left
/// there would tell the first round of a loop from the next ones, if the compiler keeps what it reads on the stack.
pub(crate) static mut CLEARS: bool = false;

/// The instructions that clear it; they leave `rax`, `rdi` and `rcx` changed.
macro_rules! clear_stack {
    () => {
        concat!(
            "cmp byte ptr [rip + {clears}], 0\n",
            "je 9f\n",
            "lea rdi, [rsp - 4096]\n",
            "xor eax, eax\n",
            "mov ecx, 512\n",
            "rep stosq\n",
            "9:",
        )
    };
}
pub(crate) use clear_stack;

/// Calls what comes before `main`, and `main`; it returns to the bottom of the fiber. An exception finds no frame of
/// Rust here.
#[unsafe(naked)]
unsafe extern "C" fn call_main() {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbx, 0",
        "mov rbx, [rip + {constructors}]",
        "2:",
        "mov rax, [rbx]",
        "test rax, rax",
        "je 3f",
        "mov rdi, [rip + {arguments}]",
        "mov rsi, [rip + {arguments} + 8]",
        "mov rdx, [rip + {arguments} + 16]",
        "call rax",
        "add rbx, 8",
        "jmp 2b",
        "3:",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        clear_stack!(),
        "mov rdi, [rip + {arguments}]",
        "mov rsi, [rip + {arguments} + 8]",
        "mov rdx, [rip + {arguments} + 16]",
        "jmp [rip + {main}]",
        ".cfi_endproc",
        constructors = sym CONSTRUCTORS,
        arguments = sym ARGUMENTS,
        main = sym MAIN,
        clears = sym CLEARS,
    )
}

/// The bottom of a fiber asks what there is to do.
pub(crate) extern "C" fn begin() -> Work {
    // SAFETY: a fiber runs, so there is a session.
    let s = unsafe { &mut *session::get() };
    let (function, argument) = s.threads[s.current.index()].work;
    let function = if s.current == ThreadId::MAIN { call_main as *const () as usize } else { function };
    mode::set(Mode::Program);
    Work { function, argument }
}

/// The bottom of a fiber has done it. The frame is that of the last call, and stands for the thread's end.
pub(crate) extern "C" fn end(result: usize) -> ! {
    let caller = at_end();
    if caller.thread == ThreadId::MAIN {
        caller.leave();
        exit_process(result as i32);
    }
    finish(result)
}

/// The running thread, at a place that has no call.
fn at_end() -> Caller {
    mode::set(Mode::Engine);
    let session = session::get();
    // SAFETY: there is a session when the program runs.
    let thread = unsafe { (*session).current };
    Caller::without_site(session, thread)
}

/// Ends the running thread.
fn finish(result: usize) -> ! {
    run_destructors();
    let caller = at_end();
    caller.session().threads[caller.thread.index()].result = result;
    caller.take_other(&Op::finish());
    depart_for_good(caller.session)
}

/// Calls a function of the program.
fn call(function: usize, arguments: [usize; 2]) {
    // SAFETY: the program has registered the function to be called with these arguments, or with fewer.
    let function = unsafe { std::mem::transmute::<usize, extern "C" fn(usize, usize)>(function) };
    mode::set(Mode::Program);
    function(arguments[0], arguments[1]);
    mode::set(Mode::Engine);
}

/// Runs the destructors of what belongs to the running thread.
fn run_destructors() {
    loop {
        let caller = at_end();
        let Some((function, object)) = caller.session().threads[caller.thread.index()].destructors.pop()
        else {
            break;
        };
        call(function, [object, 0]);
    }
    // As often as POSIX asks for.
    for _ in 0..4 {
        let mut any = false;
        for key in 0..at_end().session().keys.len() {
            let caller = at_end();
            let s = caller.session();
            let destructor = s.keys[key];
            let value = s.threads[caller.thread.index()].keys.get_mut(key).map_or(0, std::mem::take);
            if value != 0 && destructor > NO_KEY {
                any = true;
                call(destructor, [value, 0]);
            }
        }
        if !any {
            break;
        }
    }
}

/// A function to be called at the end of the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtExit {
    function: usize,
    argument: usize,
    /// The library that it belongs to; 0: the program.
    module: usize,
    /// Whether the exit code comes before its argument.
    code_first: bool,
    /// Whether it is for a quick exit only.
    quick: bool,
}

/// Calls the functions for the end of the process, the last one first: those of a library, or all.
fn run_at_exit(module: usize, code: i32, quick: bool) {
    loop {
        let caller = at_end();
        let pending = &mut caller.session().at_exit;
        let wanted = |next: &AtExit| next.quick == quick && (module == 0 || next.module == module);
        let Some(last) = pending.iter().rposition(wanted) else { break };
        let AtExit { function, argument, code_first, .. } = pending.remove(last);
        let code = code as usize;
        call(function, if code_first { [code, argument] } else { [argument, code] });
    }
}

/// Ends the process, as the running thread has asked for.
fn exit_process(code: i32) -> ! {
    run_destructors();
    run_at_exit(0, code, false);
    for function in constructors::destructors() {
        call(function, [0, 0]);
    }
    let caller = at_end();
    if code != 0 {
        caller.fail(Kind::Exit { code });
    }
    if caller.thread == ThreadId::MAIN {
        caller.take_other(&Op::finish());
        depart_for_good(caller.session);
    }
    caller.stop(Wait::Exit)
}

/// Stands for the destructor of a key that is not in use.
const NO_KEY: usize = 1;

// ---------------------------------------------------------------- before `main`

struct Before {
    at_exit: Vec<AtExit>,
    keys: Vec<usize>,
    values: Vec<usize>,
}

struct Global(UnsafeCell<Before>);

// SAFETY: used in a check only, by its one OS thread.
unsafe impl Sync for Global {}

static BEFORE: Global =
    Global(UnsafeCell::new(Before { at_exit: Vec::new(), keys: Vec::new(), values: Vec::new() }));

fn before() -> &'static mut Before {
    // SAFETY: see `Global`; callers let go of the reference before the next call.
    unsafe { &mut *BEFORE.0.get() }
}

/// What was registered before `main`: functions for the end of the process, and keys.
pub(crate) fn before_main() -> (Vec<AtExit>, Vec<usize>) {
    (before().at_exit.clone(), before().keys.clone())
}

// ---------------------------------------------------------------- the interface

entries! {
    pthread_create => create;
    pthread_join => join;
    pthread_detach => detach;
    exit => exit;
    _exit => exit_at_once;
    _Exit => exit_at_once;
    quick_exit => exit_quickly;
    pthread_key_create => key_create;
    pthread_key_delete => key_delete;
    pthread_getspecific => get_specific;
    pthread_setspecific => set_specific;
    __cxa_thread_atexit_impl => thread_at_exit;
    __cxa_thread_atexit => thread_at_exit;
    __cxa_atexit => at_exit;
    __cxa_finalize => at_exit_of;
    on_exit => at_exit_with_code;
    __cxa_at_quick_exit => at_quick_exit;
}

pub(crate) extern "C" fn create(
    handle: *mut usize,
    attributes: *const libc::pthread_attr_t,
    function: usize,
    argument: usize,
) -> i32 {
    let Some(caller) = ops::enter() else {
        if mode::mode() == Mode::Before {
            refuse_thread();
        }
        type Attributes = *const libc::pthread_attr_t;
        return pass!(
            c"pthread_create",
            fn(*mut usize, Attributes, usize, usize) -> i32,
            handle,
            attributes,
            function,
            argument
        );
    };
    let mut state = 0;
    if !attributes.is_null() {
        unsafe extern "C" {
            fn pthread_attr_getdetachstate(attributes: *const libc::pthread_attr_t, state: *mut i32) -> i32;
        }
        // SAFETY: the caller's attributes.
        unsafe { pthread_attr_getdetachstate(attributes, &mut state) };
    }
    let child = ThreadId(caller.take_other(&Op::spawn(caller.site)) as u32);
    let s = caller.session();
    if child.index() >= s.threads.len() {
        s.wanted = child.index() + 1;
        s.search.execution.request_rerun();
        depart_for_good(caller.session);
    }
    let clock = s.threads[caller.thread.index()].clock;
    let thread = &mut s.threads[child.index()];
    thread.begin(function, argument);
    thread.clock = clock;
    thread.detached = state == libc::PTHREAD_CREATE_DETACHED;
    // SAFETY: the caller's pointer.
    unsafe { *handle = thread.fiber.storage };
    caller.leave();
    0
}

fn thread_of(caller: &Caller, handle: usize) -> Option<ThreadId> {
    let threads = &caller.session().threads;
    let known = threads.iter().position(|thread| thread.fiber.storage == handle);
    known.map(|thread| ThreadId(thread as u32)).filter(|thread| threads[thread.index()].ran || thread.0 != 0)
}

pub(crate) extern "C" fn join(handle: usize, result: *mut usize) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_join", fn(usize, *mut usize) -> i32, handle, result);
    };
    let code = join_thread(&caller, handle, result);
    caller.leave();
    code
}

fn join_thread(caller: &Caller, handle: usize, result: *mut usize) -> i32 {
    let Some(thread) = thread_of(caller, handle) else { return libc::ESRCH };
    let other = &mut caller.session().threads[thread.index()];
    if thread == caller.thread {
        return libc::EDEADLK;
    }
    if other.detached || std::mem::replace(&mut other.joined, true) {
        return libc::EINVAL;
    }
    caller.take_other(&Op::join(thread, caller.site));
    // It is not earlier now than when the thread ended.
    let threads = &mut caller.session().threads;
    let end = threads[thread.index()].clock;
    let own = &mut threads[caller.thread.index()].clock;
    *own = end.max(*own);
    if !result.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *result = caller.session().threads[thread.index()].result };
    }
    0
}

pub(crate) extern "C" fn detach(handle: usize) -> i32 {
    let Some(caller) = ops::enter() else {
        return pass!(c"pthread_detach", fn(usize) -> i32, handle);
    };
    let code = match thread_of(&caller, handle) {
        Some(thread) => {
            let other = &mut caller.session().threads[thread.index()];
            match std::mem::replace(&mut other.detached, true) || other.joined {
                true => libc::EINVAL,
                false => 0,
            }
        }
        None => libc::ESRCH,
    };
    caller.leave();
    code
}

/// Ends the running thread, whose stack was unwound.
pub(crate) extern "C" fn end_unwound() -> ! {
    let caller = at_end();
    if caller.thread == ThreadId::MAIN {
        // The process ends when the other threads have.
        run_destructors();
        at_end().take_other(&Op::finish());
        depart_for_good(caller.session);
    }
    finish(caller.session().threads[caller.thread.index()].result)
}

extern "C" fn exit(code: i32) -> ! {
    let Some(caller) = ops::enter() else {
        pass!(c"exit", fn(i32) -> (), code);
        sys::exit(code);
    };
    caller.leave();
    exit_process(code)
}

extern "C" fn exit_at_once(code: i32) -> ! {
    let Some(caller) = ops::enter() else { sys::exit(code) };
    if code != 0 {
        caller.fail(Kind::Exit { code });
    }
    caller.stop(Wait::Exit)
}

extern "C" fn exit_quickly(code: i32) -> ! {
    let Some(caller) = ops::enter() else {
        pass!(c"quick_exit", fn(i32) -> (), code);
        sys::exit(code);
    };
    run_at_exit(0, code, true);
    if code != 0 {
        caller.fail(Kind::Exit { code });
    }
    caller.stop(Wait::Exit)
}

/// Whether the process is an ordinary one.
fn is_ordinary() -> bool {
    mode::mode() == Mode::Off
}

extern "C" fn at_exit(function: usize, argument: usize, module: usize) -> i32 {
    if is_ordinary() {
        return pass!(c"__cxa_atexit", fn(usize, usize, usize) -> i32, function, argument, module);
    }
    register(AtExit { function, argument, module, code_first: false, quick: false });
    0
}

extern "C" fn at_exit_with_code(function: usize, argument: usize) -> i32 {
    if is_ordinary() {
        return pass!(c"on_exit", fn(usize, usize) -> i32, function, argument);
    }
    register(AtExit { function, argument, module: 0, code_first: true, quick: false });
    0
}

extern "C" fn at_quick_exit(function: usize, module: usize) -> i32 {
    if is_ordinary() {
        return pass!(c"__cxa_at_quick_exit", fn(usize, usize) -> i32, function, module);
    }
    register(AtExit { function, argument: 0, module, code_first: false, quick: true });
    0
}

/// Notes that a function is to be called at the end of the process.
fn register(function: AtExit) {
    match mode::mode() {
        Mode::Program => {
            let caller = at_end();
            caller.session().at_exit.push(function);
            caller.leave();
        }
        Mode::Before => before().at_exit.push(function),
        Mode::Off | Mode::Engine => {}
    }
}

/// A library is about to go, or the process: its destructors call this.
extern "C" fn at_exit_of(module: usize) {
    match mode::mode() {
        Mode::Off => pass!(c"__cxa_finalize", fn(usize) -> (), module),
        Mode::Program => {
            run_at_exit(module, 0, false);
            mode::set(Mode::Program);
        }
        Mode::Before | Mode::Engine => {}
    }
}

extern "C" fn thread_at_exit(function: usize, object: usize, module: usize) -> i32 {
    if is_ordinary() {
        return pass!(c"__cxa_thread_atexit_impl", fn(usize, usize, usize) -> i32, function, object, module);
    }
    if let Some(caller) = ops::enter() {
        caller.session().threads[caller.thread.index()].destructors.push((function, object));
        caller.leave();
    }
    0
}

pub(crate) extern "C" fn key_create(key: *mut u32, destructor: usize) -> i32 {
    if is_ordinary() {
        return pass!(c"pthread_key_create", fn(*mut u32, usize) -> i32, key, destructor);
    }
    let caller = ops::enter();
    let keys = match &caller {
        Some(caller) => &mut caller.session().keys,
        None => &mut before().keys,
    };
    keys.push(destructor);
    // SAFETY: the caller's pointer.
    unsafe { *key = keys.len() as u32 - 1 };
    if let Some(caller) = caller {
        caller.leave();
    }
    0
}

pub(crate) extern "C" fn key_delete(key: u32) -> i32 {
    if is_ordinary() {
        return pass!(c"pthread_key_delete", fn(u32) -> i32, key);
    }
    let caller = ops::enter();
    let known = match key_of(caller.as_ref(), key) {
        Some(destructor) => {
            *destructor = NO_KEY;
            true
        }
        None => false,
    };
    if let Some(caller) = caller {
        caller.leave();
    }
    if known { 0 } else { libc::EINVAL }
}

/// The destructor of a key that is in use.
fn key_of(caller: Option<&Caller>, key: u32) -> Option<&mut usize> {
    let keys = match caller {
        Some(caller) => &mut caller.session().keys,
        None => &mut before().keys,
    };
    keys.get_mut(key as usize).filter(|destructor| **destructor != NO_KEY)
}

pub(crate) extern "C" fn get_specific(key: u32) -> usize {
    if is_ordinary() {
        return pass!(c"pthread_getspecific", fn(u32) -> usize, key);
    }
    let caller = ops::enter();
    let values = match &caller {
        Some(caller) => &caller.session().threads[caller.thread.index()].keys,
        None => &before().values,
    };
    let value = values.get(key as usize).copied().unwrap_or(0);
    let value = key_of(caller.as_ref(), key).map_or(0, |_| value);
    if let Some(caller) = caller {
        caller.leave();
    }
    value
}

pub(crate) extern "C" fn set_specific(key: u32, value: usize) -> i32 {
    if is_ordinary() {
        return pass!(c"pthread_setspecific", fn(u32, usize) -> i32, key, value);
    }
    let caller = ops::enter();
    let known = key_of(caller.as_ref(), key).is_some();
    let values = match &caller {
        Some(caller) => &mut caller.session().threads[caller.thread.index()].keys,
        None => &mut before().values,
    };
    let key = key as usize;
    if known {
        values.resize(values.len().max(key + 1), 0);
        values[key] = value;
    }
    if let Some(caller) = caller {
        caller.leave();
    }
    if known { 0 } else { libc::EINVAL }
}

/// Ends a process that starts a thread before the check has begun, and says who does that.
fn refuse_thread() -> ! {
    let frames = crate::frames::walk(0, usize::MAX);
    let library = frames.iter().find_map(|frame| constructors::library_of(frame.address));
    let library = library.unwrap_or_else(|| String::from("a library"));
    crate::start::fail(&format!(
        "{library} starts a thread in its constructors, which cannot be checked: build it with `unpick cc` or `unpick \
         c++`, or let it start the thread later"
    ));
    sys::exit(2)
}
