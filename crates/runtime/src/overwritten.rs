//! Atomics that something else is written over: made anew in their place, or changed by way of `get_mut`.
//!
//! The values of atomics are kept by the engine, so that a plain write to one does nothing that is seen, until the object is used
//! again. But it takes away the tag in the object. If an atomic has none where one had a tag before, or `get_mut` is called while
//! there are other threads, the search starts over, and from then on tags are compared each time that the running thread asks for
//! something: who has taken one away has written to the object since its last op. That races with the ops of others that are
//! not ordered with it, on the object that was there and on the one that is there now.
//!
//! Not noticed: writes that leave the tag where it is, by way of `as_ptr`; objects that are not on the heap; one that nobody has used before
//! it is made anew, or uses afterwards.

use unpick_core::op::{Addr, Op, Site, ThreadId};
use unpick_core::violation::{Kind, Point, Violation};

use crate::arena::{self, FREED};
use crate::counts;
use crate::current;
use crate::facts::Fact;
use crate::objects::ObjectInfo;
use crate::ops::{Object, leave_for_good};
use crate::session::Session;
use crate::tag::Tag;

/// The stamp of a tag in memory that was freed.
const GONE: u64 = u64::from_ne_bytes([FREED; 8]);

/// Where an atomic is, or was.
#[derive(Clone, Copy, Debug)]
struct Place {
    address: usize,
    /// The number in its tag, as long as it is there.
    number: Option<u32>,
    /// Where accesses are kept.
    cell: u32,
    kind: &'static str,
}

/// Atomics whose tags are compared.
#[derive(Debug, Default)]
pub(crate) struct Overwritten {
    looks: bool,
    places: Vec<Place>,
    /// Whether a write was let pass, since counts that are not seen may order it.
    doubtful: bool,
}

impl Overwritten {
    /// A run begins.
    pub(crate) fn begin(&mut self, known: u64) {
        self.looks = known != 0;
        self.places.clear();
    }

    /// Whether tags are compared.
    #[inline(always)]
    pub(crate) fn looks(&self) -> bool {
        self.looks
    }

    /// What was not looked at.
    pub(crate) fn assumption(&self) -> Option<String> {
        self.doubtful.then(|| {
            String::from(
                "atomics in a `std::sync::Arc` with one handle are written to without synchronisation after all other handles were \
                 let go; what that `Arc` orders is not seen",
            )
        })
    }
}

/// The words of a tag.
fn words(address: usize) -> (u64, u32) {
    // SAFETY: the tag of an object was there in this run, in an arena, which stays mapped.
    unsafe { ((address as *const u64).read(), (address as *const u32).add(2).read()) }
}

impl Session {
    /// An object gets a location. If it is an atomic where another one was, something was written over that. If that is new, the search
    /// starts over.
    pub(crate) fn follows_another(&mut self, object: &Object<'_>, addr: Addr) {
        let address = object.tag as *const Tag as usize;
        if self.overwritten.looks || !object.kind.starts_with("Atomic") || !arena::is_ours(address) {
            return;
        }
        let (execution, graph) = (&self.search.execution, self.search.execution.graph());
        // Another execution may have had another location there: it counts if it has been used in this one.
        let is_used = |addr: Addr| {
            let mut uses = graph.writes(addr).iter().chain(graph.reads(addr));
            uses.any(|id| id.index < execution.position(id.thread))
        };
        let is_here = |number: u32| {
            number != addr.0 && graph.name(Addr(number)) == address as u64 && is_used(Addr(number))
        };
        if (0..graph.location_count() as u32).any(is_here) {
            self.search.learn(Fact::AtomicsAreOverwritten as usize, 1);
        }
    }

    /// The caller is about to write to an atomic that nobody else may use meanwhile.
    fn writes_over(&mut self, thread: ThreadId, object: &Object<'_>, site: Site) {
        let address = object.tag as *const Tag as usize;
        if !arena::is_ours(address) {
            return;
        }
        if !self.overwritten.looks {
            if !self.search.execution.samples() && !self.search.execution.is_alone(thread) {
                self.search.learn(Fact::AtomicsAreOverwritten as usize, 1);
            }
            return;
        }
        let index = self.place_at(object);
        self.overwritten.places[index].number = None;
        self.write_over(thread, index, site);
    }

    /// Where an object is.
    fn place_at(&mut self, object: &Object<'_>) -> usize {
        let address = object.tag as *const Tag as usize;
        let known = self.overwritten.places.iter().position(|place| place.address == address);
        known.unwrap_or_else(|| {
            let cell = self.objects.races.add();
            self.objects.cells.push(ObjectInfo::outside(object));
            self.objects.cell_addresses.push(address);
            self.overwritten.places.push(Place { address, number: None, cell, kind: object.kind });
            self.overwritten.places.len() - 1
        })
    }

    /// A thread writes to an atomic, or has since its last op.
    fn write_over(&mut self, thread: ThreadId, index: usize, site: Site) {
        let Place { address, cell, kind, .. } = self.overwritten.places[index];
        let point = Point { thread, index: self.search.execution.position(thread), site };
        let view = self.search.execution.view(thread);
        let Some(accesses) = self.objects.races.access(cell, point, true, view) else { return };
        let owner = self
            .heap
            .arenas
            .iter()
            .position(|arena| arena.as_ref().is_some_and(|arena| arena.contains(address)));
        let place = owner.and_then(|owner| {
            let arena = self.heap.arenas[owner].as_ref()?;
            Some((ThreadId(owner as u32), arena.start(arena.find(address)?.0)))
        });
        if place.is_some_and(|place| counts::has_one_handle(&self.heap.arenas, place)) {
            self.overwritten.doubtful = true;
            return;
        }
        let kind = Kind::Race { accesses, object: kind.to_string() };
        self.search.execution.fail(Violation { kind, point });
    }

    #[cold]
    fn is_allocated(&self, address: usize) -> bool {
        let arena = self.heap.arenas.iter().flatten().find(|arena| arena.contains(address));
        arena.is_some_and(|arena| {
            arena.find(address).is_some_and(|(number, _)| arena.notes()[number].freed().is_none())
        })
    }

    /// Compares the tags, which the thread has taken away that are missing.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_atomics(&mut self, thread: ThreadId) {
        let stamp = self.stamp();
        let mut index = 0;
        while index < self.overwritten.places.len() {
            let Place { address, number, .. } = self.overwritten.places[index];
            index += 1;
            let Some(number) = number else { continue };
            let (word, now) = words(address);
            if (word, now) == (stamp, number) {
                continue;
            }
            if word == GONE || !self.is_allocated(address) {
                index -= 1;
                self.overwritten.places.swap_remove(index);
                continue;
            }
            self.overwritten.places[index - 1].number = None;
            self.write_over(thread, index - 1, Site(0));
        }
    }

    /// A thread has had an op on an object.
    #[cold]
    #[inline(never)]
    pub(crate) fn used_atomic(&mut self, thread: ThreadId, object: &Object<'_>, op: &Op) {
        let address = object.tag as *const Tag as usize;
        if !object.kind.starts_with("Atomic")
            || !arena::is_ours(address)
            || object.tag.stamp() != self.stamp()
        {
            return;
        }
        let index = self.place_at(object);
        self.overwritten.places[index].number = Some(object.tag.number());
        let cell = self.overwritten.places[index].cell;
        let point = Point { thread, index: self.search.execution.position(thread) - 1, site: op.site };
        let view = self.search.execution.view(thread);
        if let Some(accesses) = self.objects.races.access(cell, point, false, view) {
            let kind = Kind::Race { accesses, object: object.kind.to_string() };
            self.search.execution.fail(Violation { kind, point });
        }
    }
}

/// Says that the caller is about to write to an atomic, which nobody else may use meanwhile, without an op.
///
/// # Panics
///
/// Outside a check.
pub fn writes_over(object: Object<'_>, site: Site) {
    let (session, thread) = current::context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers; no other reference to it is in use while a fiber runs, and this one ends before the
    // fiber is left.
    let s = unsafe { &mut *session };
    s.writes_over(thread, &object, site);
    if s.search.execution.is_stopped() {
        leave_for_good(session, thread);
    }
    arena::enter(arena);
}
