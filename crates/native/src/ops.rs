//! Ops of the program: from a call to its answer.

use unpick_core::error::Error;
use unpick_core::event::{Event, EventId};
use unpick_core::op::{Kind, Mode as Order, Op, Site, ThreadId, Value};
use unpick_core::violation::{self, Access, Block, Point, Violation, Wait, Waiter};

use unpick_driver::search::Search;
use unpick_driver::take::{self, Asker};
use unpick_driver::watch::{self, Stand, Watch};

use crate::crash;
use crate::debugger;
use crate::entry::{self, Call};
use crate::fiber;
use crate::frames;
use crate::frontend::Handle;
use crate::heap;
use crate::mode::{self, Mode};
use crate::places::Key;
use crate::session::{self, Session, depart, depart_for_good};
use crate::shadow::{Conflict, Touch};
use crate::trial;

/// A thread of the program that has called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) session: *mut Session,
    pub(crate) thread: ThreadId,
    /// Where its registers and its live stack are.
    frame: usize,
    pub(crate) site: Site,
    /// What it has called, and with what.
    call: Call,
}

/// The caller, if it is a thread under test. From here on the engine runs, until [`Caller::leave`].
#[inline(always)]
pub(crate) fn enter() -> Option<Caller> {
    mode::in_program().then(|| {
        let frame = entry::frame();
        let site = Site(entry::return_address(frame) as u64);
        mode::set(Mode::Engine);
        let session = session::get();
        // SAFETY: there is a session when the program runs.
        let thread = unsafe { (*session).current };
        let caller = Caller { session, thread, frame, site, call: entry::last_call() };
        if session::must_stop() {
            caller.give_up(site);
        }
        caller
    })
}

impl Caller {
    /// A thread that stands at no call.
    pub(crate) fn without_site(session: *mut Session, thread: ThreadId) -> Caller {
        Caller { session, thread, frame: 0, site: Site(0), call: Call::default() }
    }

    /// Ends the execution, since the thread has used up its stack or its time.
    #[cold]
    pub(crate) fn give_up(&self, site: Site) -> ! {
        let problem = if session::is_overdue() { crash::ENDLESS } else { "the stack has overflowed" };
        let problem = problem.to_string();
        self.session().fail(violation::Kind::Crash { problem }, site);
        depart_for_good(self.session)
    }

    /// Lets the program go on.
    #[inline(always)]
    pub(crate) fn leave(self) {
        mode::set(Mode::Program);
    }

    /// The session.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the reference is not held across a switch")]
    pub(crate) fn session(&self) -> &mut Session {
        // SAFETY: the session is never freed; one OS thread uses it, and callers let go of the
        // reference before they switch.
        unsafe { &mut *self.session }
    }

    /// Takes an op on some bytes of memory, whose value is `init` if no op has used them.
    #[inline(always)]
    pub(crate) fn take(&self, key: Key, op: Op) -> Value {
        self.take_in_loop(key, op, false)
    }

    /// As [`Caller::take`]; `own`: in a loop of ours that [waits](Caller::wait_for_change) by itself, and need not
    /// be recognised.
    #[inline(always)]
    pub(crate) fn take_in_loop(&self, key: Key, mut op: Op, own: bool) -> Value {
        let s = self.session();
        if let Some(trying) = &mut s.trying {
            let value = trying.op(&s.places, &s.search.execution, Some(key), &op);
            return trial::answered(trying, value);
        }
        if !self.session().threads[self.thread.index()].dirty.is_empty() {
            self.write_back();
        }
        take::take(OnMemory { caller: self, key, own }, &mut op)
    }

    /// Takes an op that concerns no memory.
    pub(crate) fn take_other(&self, op: &Op) -> Value {
        let s = self.session();
        if let Some(trying) = &mut s.trying {
            let value = trying.op(&s.places, &s.search.execution, None, op);
            return trial::answered(trying, value);
        }
        if !self.session().threads[self.thread.index()].dirty.is_empty() {
            self.write_back();
        }
        let s = self.session();
        if s.recorder.is_some() {
            self.record();
        }
        take::take_other(self, op)
    }

    /// Makes events of plain writes to memory that ops have used.
    #[cold]
    fn write_back(&self) {
        let dirty = std::mem::take(&mut self.session().threads[self.thread.index()].dirty);
        for (key, site) in dirty {
            let s = self.session();
            let now = s.read_memory(key);
            let Some(place) = s.places.find(key).filter(|place| place.value != now) else { continue };
            place.value = now;
            let op = Op { width: key.width.min(8) as u8, ..Op::store(place.addr, Order::Plain, now, site) };
            take::take_other(self, &op);
            let s = self.session();
            let last = EventId { thread: self.thread, index: s.search.execution.position(self.thread) - 1 };
            s.places.is_newest(s.search.execution.graph(), key, last);
        }
    }

    /// Notes a plain access, and ends the execution if it is wrong.
    #[inline(always)]
    pub(crate) fn touch(&self, address: usize, size: usize, writes: bool, site: Site) {
        self.touch_as(address, size, writes, site, false);
    }

    /// As [`Caller::touch`]; `value`: a value is read as a whole, and not bytes that are copied.
    #[inline(always)]
    pub(crate) fn touch_as(&self, address: usize, size: usize, writes: bool, site: Site, value: bool) {
        let s = self.session();
        let point = Point { thread: self.thread, index: s.search.execution.position(self.thread), site };
        let special = !s.ignored.is_empty() | s.recorder.is_some() | s.trying.is_some();
        if special && s.leaves_out((address, size), writes, point) {
            return;
        }
        let touch = Touch { point, writes, atomic: false, value };
        let passed = &s.excuses.passed;
        if let Some(conflict) = s.shadow.access((address, size), touch, &mut s.search.execution, passed)
            && s.report_conflict(conflict, touch, address, size)
        {
            depart_for_good(self.session);
        }
        if writes && s.places.any_in(address, size) {
            s.note_plain_write(self.thread, address, size, site);
        }
    }

    /// Notes that the engine is about to use bytes of the program, and may write to them.
    #[inline(always)]
    pub(crate) fn touch_own(&self, address: usize, size: usize) {
        if let Some(trying) = &mut self.session().trying {
            trying.touch(address, size, true);
        }
    }

    /// Sets the error number of the calling thread.
    pub(crate) fn set_error(&self, code: i32) {
        // SAFETY: the place of the error number of this OS thread.
        let mut place = unsafe { libc::__errno_location() };
        let s = self.session();
        if let Some(trying) = &mut s.trying {
            // The explorer runs, and has thread-local storage of its own.
            let storage = s.threads[self.thread.index()].fiber.storage;
            place = place.wrapping_byte_add(storage.wrapping_sub(fiber::storage()));
            trying.touch(place as usize, size_of::<i32>(), true);
        }
        // SAFETY: the place of the error number of the thread, which is laid out like that of every other.
        unsafe { *place = code };
    }

    /// Notes a plain access to an argument of a call that was handed over by address. Most are variables on the stack of
    /// the caller, which are nobody else's.
    #[inline(always)]
    pub(crate) fn touch_argument(&self, address: usize, size: usize, writes: bool) {
        let s = self.session();
        if !(self.frame..s.threads[self.thread.index()].fiber.top).contains(&address) {
            self.touch(address, size, writes, self.site);
        } else if let Some(trying) = &mut s.trying {
            trying.touch(address, size, writes);
        }
    }

    /// Ends the execution with a violation.
    pub(crate) fn fail(&self, kind: violation::Kind) -> ! {
        self.record();
        self.session().fail(kind, self.site);
        depart_for_good(self.session)
    }

    /// Ends the check with an error: the program does what cannot be checked.
    pub(crate) fn refuse(&self, problem: String) -> ! {
        trial::stop();
        let s = self.session();
        let problem = format!("{problem}, at {}", s.told_site(self.site));
        s.search.refuse(Error::Misuse { problem });
        depart_for_good(self.session)
    }

    /// Stops the thread for ever.
    pub(crate) fn stop(&self, wait: Wait) -> ! {
        trial::stop();
        self.record();
        let s = self.session();
        let point =
            Point { thread: self.thread, index: s.search.execution.position(self.thread), site: self.site };
        s.search.execution.block(self.thread, Waiter { point, wait });
        depart_for_good(self.session)
    }

    /// Stops the thread for ever: the program discards the execution.
    pub(crate) fn discard(&self) -> ! {
        self.session().search.purpose.discarded.get_or_insert(self.site);
        self.stop(Wait::Assume)
    }

    /// A number below a bound, chosen in every possible way.
    pub(crate) fn choose(&self, bound: Value) -> Value {
        self.take_other(&Op::choice(bound, self.site))
    }

    /// Stops the thread as one that waits for a change of what it has read since its event `from`. It comes back
    /// only under a strategy that looks ahead: then it is to read again.
    pub(crate) fn wait_for_change(&self, from: u32) {
        if self.session().trying.is_some() {
            // It has waited in the round that is being tried, and what it read then comes next.
            return;
        }
        self.record();
        let s = self.session();
        let point =
            Point { thread: self.thread, index: s.search.execution.position(self.thread), site: self.site };
        if s.search.execution.spin(point, None, from) {
            depart(self.session);
        }
    }

    /// Keeps the call stack, if it is wanted.
    pub(crate) fn record(&self) {
        let s = self.session();
        let (thread, index) = (self.thread, s.search.execution.position(self.thread));
        let top = s.threads[thread.index()].fiber.top;
        if let Some(recorder) = s.recorder.as_mut().filter(|_| self.frame != 0) {
            recorder.note(Point { thread, index, site: self.site }, self.frame, top);
        }
    }

    /// Keeps the call stack of the allocation of a block.
    #[cold]
    pub(crate) fn record_block(&self, block: usize) {
        let s = self.session();
        let (thread, index) = (self.thread, s.search.execution.position(self.thread));
        let top = s.threads[thread.index()].fiber.top;
        if let Some(recorder) = s.recorder.as_mut().filter(|_| self.frame != 0) {
            let frames = frames::walk(self.frame, top);
            recorder.keep_block(block, &frames);
            recorder.keep(Point { thread, index, site: self.site }, &frames);
        }
    }

    /// Whether the last op of the caller was a weak exchange that failed without a reason.
    pub(crate) fn failed_spuriously(&self) -> bool {
        let Session { trying, search: Search { execution, .. }, .. } = self.session();
        if let Some(trying) = trying {
            return trying.trial.failed_spuriously(execution.graph());
        }
        let last = EventId { thread: self.thread, index: execution.position(self.thread) - 1 };
        execution.graph().event(last).has(Event::SPURIOUS)
    }

    /// How many events the caller has had.
    pub(crate) fn position(&self) -> u32 {
        if let Some(trying) = &self.session().trying {
            return trying.trial.position();
        }
        self.session().search.execution.position(self.thread)
    }
}

impl take::Caller for &Caller {
    #[inline(always)]
    fn thread(self) -> ThreadId {
        self.thread
    }

    #[inline(always)]
    fn search<'a>(self) -> &'a mut Search {
        // SAFETY: as in `session`.
        unsafe { &mut (*self.session).search }
    }

    #[inline(always)]
    fn leave(self) {
        depart(self.session);
    }
}

/// A thread that asks for an op on some bytes of memory.
#[derive(Clone, Copy)]
struct OnMemory<'a> {
    caller: &'a Caller,
    key: Key,
    /// Whether the op is in a loop of ours.
    own: bool,
}

impl take::Caller for OnMemory<'_> {
    #[inline(always)]
    fn thread(self) -> ThreadId {
        self.caller.thread
    }

    #[inline(always)]
    fn search<'a>(self) -> &'a mut Search {
        self.caller.search()
    }

    #[inline(always)]
    fn leave(self) {
        depart(self.caller.session);
    }
}

impl Asker for OnMemory<'_> {
    #[inline(always)]
    fn locate(self, op: &mut Op) -> bool {
        let OnMemory { caller, key, .. } = self;
        let s = caller.session();
        let Some(addr) = s.locate(caller, key, op.kind == Kind::Read) else { return false };
        (op.addr, op.width) = (addr, key.width.min(8) as u8);
        if s.recorder.is_some() {
            caller.record();
        }
        true
    }

    /// Before a place is suspect, nobody looks.
    #[inline(always)]
    fn frame(self) -> usize {
        if self.caller.session().search.loops.places.any() { self.caller.frame } else { 0 }
    }

    #[inline(always)]
    fn watch(self, stand: &Stand<'_>) -> Watch {
        if self.own {
            return Watch::Go;
        }
        // SAFETY: the entry of the call has left the registers there.
        let watch = unsafe { watch::watch(&mut Handle(self.caller.session), stand) };
        let s = self.caller.session();
        if s.search.loops.trial.is_some() {
            s.threads[self.caller.thread.index()].call = self.caller.call;
        }
        watch
    }

    #[inline(always)]
    fn taken(self, _: &Op, _: bool) {
        self.caller.session().taken(self.caller, self.key);
    }
}

impl Session {
    /// The location of some bytes in this run; `None` when the thread must stop and try again.
    #[inline(always)]
    fn locate(&mut self, caller: &Caller, key: Key, reads: bool) -> Option<unpick_core::op::Addr> {
        match self.places.find(key) {
            Some(place) => Some(place.addr),
            None => self.bind(caller, key, reads),
        }
    }

    /// Gives some bytes their location.
    #[inline(never)]
    fn bind(&mut self, caller: &Caller, key: Key, reads: bool) -> Option<unpick_core::op::Addr> {
        let others: Vec<_> = self.places.in_use(key).collect();
        for other in others {
            let bytes = (other.key.address, other.key.width);
            if !self.shadow.are_known(bytes, caller.thread, &mut self.search.execution) {
                let problem = format!(
                    "a part of an atomic variable is used, or a larger one, while another thread may use it as a \
                     whole: an access to {} bytes and one to {} bytes overlap, and nothing orders them; this cannot \
                     be checked, at {}",
                    key.width,
                    other.key.width,
                    self.told_site(caller.site)
                );
                self.search.refuse(Error::Misuse { problem });
                return None;
            }
            self.places.remove(other.key);
        }
        if reads && self.limits.uninitialised && !key.is_made_up() && heap::contains(key.address) {
            let index = self.search.execution.position(caller.thread);
            let point = Point { thread: caller.thread, index, site: caller.site };
            let touch = Touch { point, writes: false, atomic: true, value: true };
            // What is freed, or out of bounds, is told when the op is taken.
            if heap::find(key.address)
                .is_some_and(|found| found.block.undefined && found.block.freed.is_none())
                && self.shadow.is_undefined(key.address, key.width)
                && self.report_conflict(Conflict::Undefined, touch, key.address, key.width)
            {
                return None;
            }
        }
        let init = self.read_memory(key);
        let addr = self.search.execution.bind(caller.thread, init, reads)?;
        self.places.set(key, addr, init);
        let name = if self.search.execution.has_stable_addresses() { key.address as u64 } else { 0 };
        self.search.execution.graph_mut().set_name(addr, name);
        Some(addr)
    }

    /// What some bytes of memory hold.
    #[inline(always)]
    pub(crate) fn read_memory(&mut self, key: Key) -> Value {
        let Key { address, width, .. } = key;
        if key.is_made_up() {
            return self.places.find(key).map_or_else(|| key.first_value(), |place| place.value);
        }
        // SAFETY: the program is about to use these bytes in the same way, and has been seen to reach them.
        unsafe {
            match width {
                1 => u64::from((address as *const u8).read_volatile()),
                2 => u64::from((address as *const u16).read_unaligned()),
                4 => u64::from((address as *const u32).read_unaligned()),
                8 => (address as *const u64).read_unaligned(),
                _ => {
                    let value = (address as *const u128).read_unaligned();
                    self.places.number(value)
                }
            }
        }
    }

    fn write_memory(&mut self, key: Key, value: Value) {
        let Key { address, width, .. } = key;
        // SAFETY: the program has asked for this write.
        unsafe {
            match width {
                1 => (address as *mut u8).write_volatile(value as u8),
                2 => (address as *mut u16).write_unaligned(value as u16),
                4 => (address as *mut u32).write_unaligned(value as u32),
                8 => (address as *mut u64).write_unaligned(value),
                _ => (address as *mut u128).write_unaligned(self.places.wide(value)),
            }
        }
    }

    /// Lets memory and its shadow follow the op that the caller has just taken.
    #[inline(always)]
    fn taken(&mut self, caller: &Caller, key: Key) {
        let thread = caller.thread;
        let id = EventId { thread, index: self.search.execution.position(thread) - 1 };
        let event = self.search.execution.graph().event(id);
        let (writes, value) = (event.is_write(), event.value);
        if key.is_made_up() {
            return;
        }
        if writes && self.places.is_newest(self.search.execution.graph(), key, id) {
            self.write_memory(key, value);
            if let Some(place) = self.places.find(key) {
                place.value = value;
            }
        }
        let point = Point { thread, index: id.index, site: caller.site };
        let touch = Touch { point, writes, atomic: true, value: false };
        let bytes = (key.address, key.width);
        let passed = &self.excuses.passed;
        if let Some(conflict) = self.shadow.access(bytes, touch, &mut self.search.execution, passed) {
            self.report_conflict(conflict, touch, key.address, key.width);
        }
    }

    /// Whether a plain access is not to be looked at: the user does not want it, or it is part of a round that is being
    /// tried, and has been looked at in the round itself. If its call stack is wanted, that is kept.
    #[cold]
    fn leaves_out(&mut self, (address, size): (usize, usize), writes: bool, point: Point) -> bool {
        if let Some(trying) = &mut self.trying {
            trying.touch(address, size, writes);
            return true;
        }
        let top = self.threads[point.thread.index()].fiber.top;
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants(point)) {
            recorder.keep(point, &frames::walk_to(point.site.0 as usize, top));
        }
        self.ignored.iter().any(|&(from, to)| from <= address && address < to)
    }

    /// Notes that memory which ops have used is about to be written to by a plain access.
    #[cold]
    fn note_plain_write(&mut self, thread: ThreadId, address: usize, size: usize, site: Site) {
        let range = Key { address, width: size, kind: "" };
        let keys: Vec<Key> = self.places.in_use(range).map(|place| place.key).collect();
        self.threads[thread.index()].dirty.extend(keys.into_iter().map(|key| (key, site)));
    }

    /// Ends the execution because of what stands against an access; `false` if nothing does but what is known.
    #[cold]
    fn report_conflict(&mut self, mut conflict: Conflict, touch: Touch, address: usize, size: usize) -> bool {
        while matches!(conflict, Conflict::Undefined) && !self.shadow.is_undefined(address, size)
            || self.excuse(conflict, touch, address)
        {
            let passed = &self.excuses.passed;
            match self.shadow.access((address, size), touch, &mut self.search.execution, passed) {
                Some(next) => conflict = next,
                None => return false,
            }
        }
        let access = Access { point: touch.point, writes: touch.writes, atomic: touch.atomic };
        let object = String::from("memory");
        let block = heap::find(address).map(|found| Block {
            thread: found.thread.unwrap_or(ThreadId::MAIN),
            number: found.number,
            birth: found.block.birth,
            size: found.block.size as u32,
        });
        let kind = match (conflict, block) {
            (Conflict::Race(other), _) => violation::Kind::Race { accesses: [other, access], object },
            (Conflict::Unborn(birth), _) => {
                violation::Kind::Unpublished { access, creator: birth.thread, object }
            }
            (Conflict::Freed(freed), Some(block)) => {
                let known = freed.thread == access.point.thread
                    || unpick_core::clock::knows(
                        self.search.execution.view(access.point.thread),
                        EventId { thread: freed.thread, index: freed.index },
                    );
                violation::Kind::UseAfterFree { access, freed, after: known, block, object }
            }
            (Conflict::Undefined, Some(block)) => violation::Kind::Uninitialised { access, block, object },
            (_, block) => violation::Kind::OutOfBounds { access, block },
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.range = Some((address, size));
        }
        let violation = Violation { kind, point: touch.point };
        debugger::stop(&violation);
        self.search.execution.fail(violation);
        true
    }
}
