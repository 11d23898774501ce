//! Which location or cell an object stands for in the current run.

use unpick_core::error::Error;
use unpick_core::op::{Addr, Kind, Op, Site, ThreadId, Value};
use unpick_core::violation::Access;

use super::Object;
use crate::objects::ObjectInfo;
use crate::session::Session;
use crate::tag::{self, Tag};
use crate::{arena, memory, statics};

/// Where an object lives.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// In memory that the next run takes over: an arena, or a stack.
    Run,
    /// On the system heap.
    Heap,
    /// In static memory.
    Static,
}

impl Session {
    /// The location that an object has in this run, if it has one.
    pub(crate) fn known_location(&self, tag: &Tag) -> Option<Addr> {
        if [self.stamp(), self.heap_stamp()].contains(&tag.stamp()) {
            return Some(Addr(tag.number()));
        }
        self.objects.statics.number(tag as *const Tag as usize).map(Addr)
    }

    /// Gives an object its location in this run; `false` when the thread must stop and try again.
    #[inline(never)]
    pub(crate) fn locate(&mut self, thread: ThreadId, object: &Object<'_>, init: Value, op: &mut Op) -> bool {
        if object.tag.stamp() == self.heap_stamp() {
            op.addr = Addr(object.tag.number());
            return true;
        }
        self.bind_again(thread, object, init, op) || self.bind(thread, object, init, op)
    }

    /// Gives an object the location that it had when the thread's next event was recorded: the
    /// usual case, for objects that the program has allocated. `false`: see [`Session::bind`].
    #[inline(always)]
    pub(super) fn bind_again(
        &mut self,
        thread: ThreadId,
        object: &Object<'_>,
        init: Value,
        op: &mut Op,
    ) -> bool {
        let address = object.tag as *const Tag as usize;
        if object.tag.stamp() != 0 || !arena::is_ours(address) {
            return false;
        }
        let Some(addr) = self.search.execution.bind_again(thread, init) else { return false };
        let Some(known) = self.objects.locations.get_mut(addr.index()) else { return false };
        *known = ObjectInfo::new(object);
        self.name(addr, address, Home::Run);
        object.tag.set(self.stamp(), addr.0);
        op.addr = addr;
        true
    }

    /// Gives an object its location; `false` when the thread must stop and try again.
    #[cold]
    #[inline(never)]
    fn bind(&mut self, thread: ThreadId, object: &Object<'_>, init: Value, op: &mut Op) -> bool {
        let Some(home) = self.admit(object, op.site) else { return false };
        let address = object.tag as *const Tag as usize;
        let access = memory::access_of(thread, self.search.execution.position(thread), op);
        let Some(known) = self.know(object, access) else { return false };
        if let (Home::Static, Some(number)) = (home, self.objects.statics.number(address)) {
            op.addr = Addr(number);
            return true;
        }
        let Some(addr) = self.search.execution.bind(thread, init, op.kind == Kind::Read) else {
            return false;
        };
        if addr.index() >= self.objects.locations.len() {
            self.objects.locations.resize(addr.index() + 1, ObjectInfo::NONE);
        }
        self.objects.locations[addr.index()] = known;
        self.follows_another(object, addr);
        self.name(addr, address, home);
        self.number(object, home, addr.0);
        op.addr = addr;
        true
    }

    /// The number of a cell in this run; `None` when it may not be used.
    #[inline(always)]
    pub(crate) fn cell(&mut self, object: &Object<'_>, access: Access) -> Option<u32> {
        if object.tag.stamp() == self.stamp() || object.tag.stamp() == self.heap_stamp() {
            return tag::cell(object.tag.number());
        }
        let home = self.admit(object, access.point.site)?;
        let address = object.tag as *const Tag as usize;
        let known = self.know(object, access)?;
        if let Some(number) = self.objects.statics.number(address) {
            return tag::cell(number);
        }
        let cell = self.objects.races.add();
        self.objects.cells.push(known);
        self.objects.cell_addresses.push(address);
        self.number(object, home, tag::of_cell(cell));
        Some(cell)
    }

    /// Notes where the object of a location is now.
    pub(super) fn note_address(&mut self, addr: Addr, tag: &Tag) {
        if addr.index() >= self.objects.addresses.len() {
            self.objects.addresses.resize(addr.index() + 1, 0);
        }
        self.objects.addresses[addr.index()] = tag as *const Tag as usize;
    }

    /// Names a location by where its object is, if that is the same in every run.
    #[inline(always)]
    fn name(&mut self, addr: Addr, address: usize, home: Home) {
        let lasts = self.search.execution.has_stable_addresses() && !matches!(home, Home::Heap);
        self.search.execution.graph_mut().set_name(addr, if lasts { address as u64 } else { 0 });
    }

    /// Gives an object its number in this run.
    fn number(&mut self, object: &Object<'_>, home: Home, number: u32) {
        match home {
            Home::Run => object.tag.set(self.stamp(), number),
            Home::Heap => object.tag.set(self.heap_stamp(), number),
            // Checks that go on at the same time share statics, so those are not stamped.
            Home::Static => self.objects.statics.set_number(object.tag as *const Tag as usize, number),
        }
    }

    /// Where an object lives that has no stamp of this run; `None` if it may not be used.
    #[inline(always)]
    fn admit(&mut self, object: &Object<'_>, site: Site) -> Option<Home> {
        let address = object.tag as *const Tag as usize;
        if arena::is_ours(address) || self.fibers.iter().any(|fiber| fiber.contains(address)) {
            return Some(Home::Run);
        }
        if statics::is_static(address) {
            let (start, size) = object.contents;
            if self.objects.statics.number(address).is_none() {
                self.objects.statics.save(start, size);
            }
            return Some(Home::Static);
        }
        // What an earlier run has used has its stamp. What is wrong with memory that nothing was written
        // to is said when there are arenas.
        if self.uses_heap() && [0, memory::UNWRITTEN].contains(&object.tag.stamp()) {
            return Some(Home::Heap);
        }
        let site = crate::site::describe(site);
        self.search.refuse(Error::Outside { object: object.kind.to_string(), site });
        None
    }
}
