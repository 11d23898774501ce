//! What is known of the objects that have a location or a cell: their type, and who allocated them.

use unpick_checkers::race::Cells;
use unpick_core::op::ThreadId;

use crate::arena::Arena;
use crate::ops::Object;
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
    /// Not by a thread under test.
    Outside,
}

impl ObjectInfo {
    /// Nothing is known.
    pub(crate) const NONE: ObjectInfo = ObjectInfo { kind: "", birth: Birth::Outside };

    /// What is known when an object is first used.
    pub(crate) fn new(object: &Object<'_>) -> ObjectInfo {
        ObjectInfo { kind: object.kind, birth: Birth::At(object.tag as *const Tag as usize) }
    }

    /// What is known of an object in memory that no thread under test has allocated.
    pub(crate) fn outside(object: &Object<'_>) -> ObjectInfo {
        ObjectInfo { kind: object.kind, birth: Birth::Outside }
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
            self.birth = owner.map_or(Birth::Outside, |(thread, birth)| Birth::Allocated(thread, birth));
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
