//! Memory errors: use after free, double and invalid frees, objects in memory nobody wrote to.
//!
//! Freeing a block is like a plain write to everything in it. An earlier use by another thread must
//! happen before it, and no use may come after. Later uses show by themselves: a freed block is
//! filled with a pattern, so the tags in it have lost their stamps. Earlier ones are looked for when
//! a block is freed, by the stamps in it. What is repeated from the record was looked at when it was
//! new; but where an execution is run once more for a free, all are looked at, since it may be another thread that has the last
//! handle then.
//!
//! A tag tells the location of an object, but an object that has moved leaves a copy of its tag
//! behind. So before a use is held against a free, the execution is run once more with the path on
//! which the address of every object is noted.
//!
//! What unpick's own `Arc` frees is freed in [`ordered`]. `Arc` of the standard library orders what it frees by counts that are no
//! events: [`Counts`](crate::counts) tells what they order. It sees those in arenas; where threads have memory of the system heap as
//! well, frees inside the destructor of an `Arc` are excused, which [`Shared`] tells by the call stack. Only uses that have been are: those to come are held
//! against every free.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use unpick_core::clock::knows;
use unpick_core::error::Error;
use unpick_core::event::EventId;
use unpick_core::op::{Addr, Kind as OpKind, Op, Site, ThreadId};
use unpick_core::violation::{Access, Block, Kind, Point, Violation};

use crate::arena::{self, FREED, NEW};
use crate::counts::{self, Counts};
use crate::facts::Fact;
use crate::objects::ObjectInfo;
use crate::ops::{Object, leave_for_good};
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::tag::{self, Tag};
use crate::{current, site};

/// The stamp of a tag that nothing was written to.
pub(crate) const UNWRITTEN: u64 = u64::from_ne_bytes([NEW; 8]);

/// A block of the program is freed. Its size is taken from the notes: compilers put `free(p)` for
/// `free(realloc(p, size))`, with the size of the new block. Answered by the runtime in rounds that are tried.
#[inline(never)]
pub(crate) extern "C-unwind" fn free(block: usize) -> usize {
    // Engine code runs with the arena put aside; what it frees is not the program's.
    if arena::is_active() || current::is_outside() {
        free_of_program(block);
    }
    forget_scratch();
    0
}

#[inline(always)]
fn free_of_program(block: usize) {
    let Some((session, thread)) = current::get() else { return };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers; no other reference to it is in use while a fiber
    // runs, and this one ends before the fiber is left.
    if !unsafe { (*session).free(thread, block) } {
        leave_for_good(session, thread);
    }
    arena::enter(arena);
}

/// Runs `f`, which frees what other threads have used, and has counted them: all that they did with it
/// happens before, though no event says so.
pub fn ordered<R>(f: impl FnOnce() -> R) -> R {
    let Some((session, _)) = current::get() else { return f() };
    // SAFETY: as in `free`; no reference is held while `f` runs.
    unsafe {
        let before = std::mem::replace(&mut (*session).frees.ordered, true);
        let result = f();
        (*session).frees.ordered = before;
        result
    }
}

/// Keeps the call stack of the allocation that is going on.
#[cold]
#[inline(never)]
pub(crate) fn record_allocation() {
    let Some((session, _)) = current::get() else { return };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `free`.
    if let Some(recorder) = unsafe { &mut (*session).recorder } {
        recorder.allocated();
    }
    arena::enter(arena);
}

/// The access to an object that an op is.
pub(crate) fn access_of(thread: ThreadId, index: u32, op: &Op) -> Access {
    let writes = op.kind == OpKind::Write || op.rmw != unpick_core::op::Rmw::None;
    Access { point: Point { thread, index, site: op.site }, writes, atomic: true }
}

/// A use that stands against a free.
struct Conflict {
    access: Access,
    object: String,
    /// Where the tag is by which it was found.
    tag: usize,
    /// Number of the location or cell.
    number: u32,
    /// Whether the use is still to come.
    to_come: bool,
}

impl Session {
    /// Whether counts or atomics are looked at.
    #[inline(always)]
    pub(crate) fn looks_between(&self) -> bool {
        !self.frees.counts.are_none() || self.overwritten.looks()
    }

    /// Sees what the running thread has done to counts and atomics since it was looked at last.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_between(&mut self, thread: ThreadId) {
        self.frees.counts.look(&self.heap.arenas, &mut self.search.execution, thread);
        if self.overwritten.looks() {
            self.look_at_atomics(thread);
        }
    }

    /// The thread in whose memory an address is.
    #[inline]
    fn owner(&self, thread: ThreadId, address: usize) -> Option<ThreadId> {
        let holds = |t: usize| self.heap.arenas[t].as_ref().is_some_and(|arena| arena.contains(address));
        if thread.index() < self.heap.arenas.len() && holds(thread.index()) {
            return Some(thread);
        }
        (0..self.heap.arenas.len()).find(|&t| holds(t)).map(|t| ThreadId(t as u32))
    }

    /// A block, for a violation.
    pub(crate) fn block(&self, thread: ThreadId, number: usize) -> Option<Block> {
        let note = self.heap.arenas[thread.index()].as_ref()?.notes().get(number)?;
        Some(Block { thread, number, birth: note.birth, size: note.size() })
    }

    /// Frees a block; `false` when the thread must stop.
    #[inline]
    fn free(&mut self, thread: ThreadId, address: usize) -> bool {
        // Memory of another check, or of an earlier execution, that the standard library kept.
        let Some(owner) = self.owner(thread, address) else { return true };
        let Some(arena) = &self.heap.arenas[owner.index()] else { return true };
        let Some((number, within)) = arena.find(address) else {
            return !arena.uses(address) || self.bad_free(thread, owner, None);
        };
        let note = arena.notes()[number];
        if within != 0 || note.freed().is_some() {
            return self.bad_free(thread, owner, Some((number, within)));
        }
        let birth = note.birth;
        let size = note.size() as usize;
        if !self.frees.ordered {
            self.frees.counts.freed(owner, address, size);
        }
        if self.looks() {
            self.look(thread, 0);
            if self.search.execution.is_stopped() {
                return false;
            }
        }
        let looks = !self.frees.ordered && (self.frees.reviews || self.search.execution.is_fresh(thread));
        if looks && !self.may_free(thread, owner, number, address, size) {
            return false;
        }
        let position = self.search.execution.position(thread);
        if let Some(recorder) = &mut self.recorder {
            recorder.freed(owner, number, thread);
        }
        if !self.lent.is_empty() {
            self.lent.end(&(address..address + size));
        }
        let has_spawned = self.has_spawned();
        let Some(arena) = &mut self.heap.arenas[owner.index()] else { return true };
        arena.free(number, thread, position);
        if has_spawned {
            if !self.frees.ordered {
                self.freed.note((thread, position), (owner == thread).then_some(birth));
            }
            if self.freed.guards((thread, position)) {
                self.freed.guard(arena.pages(number));
            }
        }
        true
    }

    /// Says what is wrong with a free.
    #[cold]
    #[inline(never)]
    fn bad_free(&mut self, thread: ThreadId, owner: ThreadId, at: Option<(usize, usize)>) -> bool {
        let block = at.and_then(|(number, ..)| self.block(owner, number));
        let freed =
            at.and_then(|(number, ..)| self.heap.arenas[owner.index()].as_ref()?.notes()[number].freed());
        let kind = match (at, block, freed) {
            (Some((_, 0)), Some(block), Some((by, index))) => {
                Kind::DoubleFree { first: Point { thread: by, index, site: Site(0) }, block }
            }
            (Some((_, within)), Some(block), _) => Kind::InvalidFree {
                problem: format!(
                    "an address is freed that is {within} bytes into a block of {} bytes",
                    block.size
                ),
                block: Some(block),
            },
            _ => Kind::InvalidFree {
                problem: String::from("an address is freed where no block of memory is"),
                block: None,
            },
        };
        self.misuse(thread, Site(0), kind);
        false
    }

    /// Ends the execution with a violation of the running thread.
    #[cold]
    pub(crate) fn misuse(&mut self, thread: ThreadId, site: Site, kind: Kind) {
        let point = Point { thread, index: self.search.execution.position(thread), site };
        if let Some(recorder) = &mut self.recorder {
            recorder.faulted(thread);
        }
        self.search.execution.fail(Violation { kind, point });
    }

    /// Whether every use of a block by another thread happens before the running thread frees it.
    #[inline]
    fn may_free(
        &mut self,
        thread: ThreadId,
        owner: ThreadId,
        number: usize,
        start: usize,
        size: usize,
    ) -> bool {
        let stamp = self.stamp();
        for tag in (start..(start + size).saturating_sub(size_of::<Tag>() - 1)).step_by(align_of::<Tag>()) {
            // SAFETY: the whole tag would be within the block, which is mapped.
            let words = unsafe { ((tag as *const u64).read(), (tag as *const u32).add(2).read()) };
            if words.0 == stamp
                && let Some(conflict) = self.conflict(thread, tag, words.1)
                && !self.excuse(&conflict)
            {
                self.refuse(thread, owner, number, start..start + size, conflict);
                return false;
            }
        }
        if !self.lent.is_empty()
            && let Some(conflict) = self.lent_conflict(thread, start..start + size)
            && !self.excuse(&conflict)
        {
            self.refuse(thread, owner, number, start..start + size, conflict);
            return false;
        }
        true
    }

    /// A write through a pointer that stands against freeing the memory of its cell.
    #[cold]
    fn lent_conflict(&mut self, thread: ThreadId, memory: Range<usize>) -> Option<Conflict> {
        let view = self.search.execution.view(thread);
        self.lent.unknown(&memory, thread, view, &[])?;
        let told = match self.frees.counts.are_none() {
            true => Vec::new(),
            false => self.frees.counts.moments(thread, view),
        };
        let (tag, cell, access) = self.lent.unknown(&memory, thread, view, &told)?;
        let object = self.objects.cells[cell as usize].kind.to_string();
        Some(Conflict { access, object, tag, number: tag::of_cell(cell), to_come: false })
    }

    /// A use of an object that stands against freeing its memory.
    fn conflict(&mut self, thread: ThreadId, tag: usize, number: u32) -> Option<Conflict> {
        let any = self.conflict_but(thread, tag, number, &[])?;
        if any.to_come || self.frees.counts.are_none() {
            return Some(any);
        }
        let told = self.frees.counts.moments(thread, self.search.execution.view(thread));
        self.conflict_but(thread, tag, number, &told)
    }

    /// As [`Session::conflict`], but for uses that counts have told the thread of.
    fn conflict_but(&mut self, thread: ThreadId, tag: usize, number: u32, told: &[u32]) -> Option<Conflict> {
        let view = self.search.execution.view(thread);
        if let Some(cell) = tag::cell(number) {
            let access =
                self.objects.races.unknown(cell, thread, view, |access| counts::tell(told, access))?;
            let object = self.objects.cells[cell as usize].kind.to_string();
            return Some(Conflict { access, object, tag, number, to_come: false });
        }
        self.frees.view.clear();
        self.frees.view.extend_from_slice(view);
        let addr = Addr(number);
        let graph = self.search.execution.graph();
        if addr.index() >= graph.location_count() {
            return None;
        }
        let object = || self.objects.locations[addr.index()].kind.to_string();
        let standing = (0..graph.thread_count()).map(|t| ThreadId(t as u32)).find_map(|other| {
            let op = self.search.execution.pending(other).filter(|op| other != thread && op.addr == addr)?;
            Some(access_of(other, self.search.execution.position(other), op))
        });
        if let Some(access) = standing {
            return Some(Conflict { access, object: object(), tag, number, to_come: true });
        }
        // Those that are recorded and still to be repeated show for themselves, if they come.
        let has_been = |event: &EventId| {
            !self.frees.reviews || event.index < self.search.execution.position(event.thread)
        };
        let foreign =
            |event: &&EventId| event.thread != thread && !knows(&self.frees.view, **event) && has_been(event);
        let access = |id: &EventId| {
            let event = graph.event(*id);
            let point = Point { thread: id.thread, index: id.index, site: event.site };
            Access { point, writes: event.is_write(), atomic: true }
        };
        let uses = graph.writes(addr).iter().chain(graph.reads(addr)).filter(foreign).map(access);
        let access = uses.into_iter().find(|access| !counts::tell(told, access))?;
        Some(Conflict { access, object: object(), tag, number, to_come: false })
    }

    /// Whether a use is not to be held against a free after all.
    #[cold]
    #[inline(never)]
    fn excuse(&mut self, conflict: &Conflict) -> bool {
        // What thread-locals free is ordered by nothing.
        let is_quiet = || current::quiet().is_some_and(|(fact, _)| fact != Fact::LocalsOutliveScopes);
        let mut is_ordered = || is_quiet() || self.is_dropping_unseen();
        !conflict.to_come && is_ordered()
            || self.tracks_addresses()
                && self.address(conflict.number).is_some_and(|address| address != conflict.tag)
    }

    /// Whether the running thread is where memory is freed, or written to, that counts order which are not looked at.
    pub(crate) fn is_dropping_unseen(&mut self) -> bool {
        self.is_partly_unseen() && self.frees.shared.is_dropping()
    }

    /// Why it cannot be said whether counts that are not looked at order something.
    pub(crate) fn is_untold(&self) -> Option<String> {
        (self.is_partly_unseen() && !knows_names()).then(|| {
            String::from(
                "memory is written to that another thread has used, and whether the use comes first cannot be told: there \
                 is memory of the program outside of what is looked at, and what a `std::sync::Arc` there orders is told \
                 by the names of functions, which the program does not have: build it without `strip`, or use \
                 `unpick::sync::Arc` instead",
            )
        })
    }

    /// Whether counts may be where they are not looked at.
    fn is_partly_unseen(&self) -> bool {
        self.uses_heap() || self.is_outside()
    }

    /// Where the object of a location or cell was last used.
    fn address(&self, number: u32) -> Option<usize> {
        match tag::cell(number) {
            Some(cell) => self.objects.cell_addresses.get(cell as usize).copied(),
            None => self.objects.addresses.get(number as usize).copied().filter(|&address| address != 0),
        }
    }

    /// Ends the execution: with a violation, or to run it again with more care.
    #[cold]
    #[inline(never)]
    fn refuse(
        &mut self,
        thread: ThreadId,
        owner: ThreadId,
        number: usize,
        bytes: Range<usize>,
        conflict: Conflict,
    ) {
        let Some(block) = self.block(owner, number) else { return };
        let Conflict { access, object, to_come, .. } = conflict;
        let holders = if to_come { Vec::new() } else { self.holders(bytes) };
        let learns = !to_come && self.frees.counts.learn(&self.heap.arenas, &holders);
        if learns || !self.tracks_addresses() {
            self.objects.track_addresses |= !learns;
            self.frees.reviews_next = true;
            self.search.execution.request_rerun();
            return;
        }
        if !to_come && let Some(problem) = self.doubt(&holders, &access) {
            self.search.error = Some(Error::Misuse { problem });
            self.search.execution.request_rerun();
            return;
        }
        let freed = Point { thread, index: self.search.execution.position(thread), site: Site(0) };
        if let Some(recorder) = &mut self.recorder {
            recorder.freed(owner, number, thread);
        }
        self.misuse(thread, Site(0), Kind::UseAfterFree { access, freed, after: to_come, block, object });
    }

    /// Why it cannot be said whether a free is wrong that no event orders after an access.
    fn doubt(&self, holders: &[counts::Place], access: &Access) -> Option<String> {
        let reason = if self.frees.counts.may_tell(&self.heap.arenas, holders, access) {
            "it belongs to a `std::sync::Arc` that has one handle left, and `Arc::get_mut` and `Arc::make_mut` order \
             what is done then in a way that is not seen"
        } else if self.is_partly_unseen() && !knows_names() {
            "there is memory of the program outside of what is looked at, and what a `std::sync::Arc` there orders is \
             told by the names of functions, which the program does not have: build it without `strip`"
        } else {
            return None;
        };
        let (user, place) = (site::thread_name(access.point.thread), site::describe(access.point.site));
        Some(format!(
            "memory is freed that {user} has used at {place}, and whether the use comes first cannot be told: \
             {reason}. Use `unpick::sync::Arc` instead"
        ))
    }

    /// What is known of an object that has no stamp of this run. If it lives in memory that may not be
    /// used, there is nothing, and the execution is ended.
    #[inline(always)]
    pub(crate) fn know(&mut self, object: &Object<'_>, access: Access) -> Option<ObjectInfo> {
        let address = object.tag as *const Tag as usize;
        let outside = Some(ObjectInfo::outside(object));
        if !arena::is_ours(address) {
            return outside;
        }
        let thread = access.point.thread;
        let Some(owner) = self.owner(thread, address) else { return outside };
        let Some(arena) = &self.heap.arenas[owner.index()] else { return outside };
        let Some((number, _)) = arena.find(address) else { return outside };
        let note = arena.notes()[number];
        let what = || object.kind.to_string();
        let block = Block { thread: owner, number, birth: note.birth, size: note.size() };
        let kind = if let Some((by, index)) = note.freed() {
            let freed = Point { thread: by, index, site: Site(0) };
            Kind::UseAfterFree { access, freed, after: true, block, object: what() }
        } else if object.tag.stamp() == UNWRITTEN {
            Kind::Uninitialised { access, block, object: what() }
        } else {
            return Some(ObjectInfo::born(object, owner, note.birth));
        };
        self.misuse(thread, access.point.site, kind);
        None
    }

    /// The program has used an address that it must not use.
    pub(crate) fn crashed(&mut self, thread: ThreadId, address: usize, writes: bool, registers: &[usize]) {
        if let Some(kind) = self.touched(thread, address, writes) {
            self.needs_new_thread = true;
            self.misuse(thread, Site(0), kind);
            return;
        }
        let is_near = |pattern: u8| {
            let pattern = usize::from_ne_bytes([pattern; size_of::<usize>()]);
            registers.iter().any(|register| register.abs_diff(pattern) < 1 << 16)
        };
        let problem = if is_near(FREED) {
            String::from("an address was used that comes from memory that had been freed")
        } else if is_near(NEW) {
            String::from("an address was used that comes from memory that nothing was written to")
        } else if address < 1 << 16 {
            String::from("a null pointer was used")
        } else {
            String::from("an address was used where there is no memory of the program")
        };
        self.needs_new_thread = true;
        self.misuse(thread, Site(0), Kind::Crash { problem });
    }
}

/// What is known of memory that is freed.
#[derive(Default)]
pub(crate) struct Frees {
    /// What counts order that the engine does not see.
    pub(crate) counts: Counts,
    /// Whether what is freed is looked at in the next run, and whether it is in this one, also where the run repeats what is
    /// recorded.
    pub(crate) reviews_next: bool,
    pub(crate) reviews: bool,
    /// Whether what is freed is known not to be used by others.
    pub(crate) ordered: bool,
    /// Knows the destructors of shared pointers.
    pub(crate) shared: Shared,
    /// A clock, for comparing.
    pub(crate) view: Vec<u32>,
    /// Words of static memory that held addresses of blocks at the end of an execution.
    pub(crate) roots: RefCell<Vec<usize>>,
}

/// Tells frees inside the destructor of the standard library's shared pointers.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Return addresses that have been looked up.
    known: Vec<(usize, bool)>,
}

impl Shared {
    /// Whether the running thread is in such a destructor.
    fn is_dropping(&mut self) -> bool {
        let mut found = false;
        backtrace::trace(|frame| {
            let call = frame.ip() as usize;
            let known = self.known.iter().find(|(known, _)| *known == call).map(|&(_, is)| is);
            let is = known.unwrap_or_else(|| {
                let is = is_destructor(call);
                self.known.push((call, is));
                is
            });
            found |= is;
            !found
        });
        found
    }
}

/// Whether the names of functions tell frees inside the destructor of a shared pointer: whether they tell this one.
fn knows_names() -> bool {
    struct Probe<'a>(&'a AtomicBool);
    impl Drop for Probe<'_> {
        fn drop(&mut self) {
            self.0.store(Shared::default().is_dropping(), Ordering::Relaxed);
        }
    }
    let told = AtomicBool::new(false);
    drop(std::hint::black_box(Arc::new(Probe(&told))));
    told.into_inner()
}

/// Whether the code that a call returns to is in the destructor of a shared pointer.
fn is_destructor(call: usize) -> bool {
    let mut is = false;
    // The address is where the call returns to; the call itself is before.
    backtrace::resolve(call.saturating_sub(1) as *mut std::ffi::c_void, |symbol| {
        let name = symbol.name().map_or_else(String::new, |name| format!("{name:#}"));
        is |= name.contains("alloc::sync::Arc") && name.contains("drop_slow");
        is |= name.contains("alloc::sync::Weak") && name.ends_with("::drop");
    });
    is
}
