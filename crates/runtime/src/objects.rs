//! What is known of the objects that have a location or a cell: their type, and who allocated them.

use unpick_checkers::race::Cells;
use unpick_core::op::{Addr, ThreadId};

use crate::arena::Arena;
use crate::ops::Object;
use crate::session::Session;
use crate::statics::Statics;
use crate::tag::Tag;

/// What is known of an object that has a location or a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectInfo {
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
    Allocated(ThreadId, u32),
    /// Not by a thread under test; the object was here.
    Outside(usize),
}

impl ObjectInfo {
    /// Nothing is known.
    pub(crate) const NONE: ObjectInfo = ObjectInfo { kind: "", birth: Birth::Outside(0) };

    /// What is known when an object is first used.
    pub(crate) fn new(object: &Object<'_>) -> ObjectInfo {
        ObjectInfo { kind: object.kind, birth: Birth::At(object.tag as *const Tag as usize) }
    }

    /// What is known of an object in memory that no thread under test has allocated.
    pub(crate) fn outside(object: &Object<'_>) -> ObjectInfo {
        ObjectInfo { kind: object.kind, birth: Birth::Outside(object.tag as *const Tag as usize) }
    }

    /// What is known of an object whose memory a thread allocated when it had so many events.
    pub(crate) fn born(object: &Object<'_>, thread: ThreadId, birth: u32) -> ObjectInfo {
        ObjectInfo { kind: object.kind, birth: Birth::Allocated(thread, birth) }
    }

    /// The thread that allocated the memory of the object, and how many events it had then; none if no
    /// thread under test did.
    pub(crate) fn birth(&mut self, arenas: &[Option<Box<Arena>>]) -> Option<(ThreadId, u32)> {
        if let Birth::At(address) = self.birth {
            let owner = arenas.iter().enumerate().find_map(|(t, arena)| {
                let arena = arena.as_ref().filter(|arena| arena.contains(address))?;
                Some((ThreadId(t as u32), arena.birth(address)?))
            });
            self.birth =
                owner.map_or(Birth::Outside(address), |(thread, birth)| Birth::Allocated(thread, birth));
        }
        match self.birth {
            Birth::Allocated(thread, birth) => Some((thread, birth)),
            _ => None,
        }
    }
}

/// What is known of the objects of a run.
#[derive(Default)]
pub(crate) struct Objects {
    /// Those behind locations.
    pub(crate) locations: Vec<ObjectInfo>,
    /// Those behind cells.
    pub(crate) cells: Vec<ObjectInfo>,
    /// Plain accesses to cells.
    pub(crate) races: Cells,
    /// Those in static memory.
    pub(crate) statics: Statics,
    /// Where the objects of locations were last used, where that is noted.
    pub(crate) addresses: Vec<usize>,
    /// Where cells were last used.
    pub(crate) cell_addresses: Vec<usize>,
    /// Whether the addresses of all objects are noted, run after run.
    pub(crate) track_addresses: bool,
}

impl Session {
    /// Whether a thread has used an object that is not in its own memory, or a lock that has a location for each reader.
    /// Looked at only as long as no location is seen to be shared.
    pub(crate) fn hands_over(&mut self) -> bool {
        let (graph, arenas, fibers) = (self.search.execution.graph(), &self.heap.arenas, &self.fibers);
        let is_foreign = |known: &mut ObjectInfo, user: ThreadId| match (known.birth(arenas), known.birth) {
            (Some((creator, _)), _) => creator != user,
            // On the stack of a thread, or in static memory, which the main thread may have to itself.
            (None, Birth::Outside(address)) => {
                user != ThreadId::MAIN && !fibers[user.index()].contains(address)
                    || fibers[1..].iter().any(|fiber| user == ThreadId::MAIN && fiber.contains(address))
            }
            _ => false,
        };
        let mut reader = None;
        for &id in graph.order() {
            let addr = graph.event(id).addr;
            if addr != Addr::NONE
                && let Some(known) = self.objects.locations.get_mut(addr.index())
                && (known.kind == "RwLock" && *reader.get_or_insert(id.thread) != id.thread
                    || is_foreign(known, id.thread))
            {
                return true;
            }
        }
        let races = &self.objects.races;
        let mut cells = (0..).zip(&mut self.objects.cells);
        cells.any(|(cell, known)| races.user(cell).is_some_and(|user| is_foreign(known, user)))
    }
}
