//! Signatures: what tells objects apart by where they were made.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;

use crate::context;

/// The kind of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourceType {
    /// An atomic.
    Atomic,
    /// A semaphore.
    BatchSemaphore,
    /// A barrier.
    Barrier,
    /// A condition.
    Condvar,
    /// A mutex.
    Mutex,
    /// A lock for readers and writers.
    RwLock,
    /// Something done once.
    Once,
    /// A channel.
    MpscChannel,
}

/// Where an object was made, by which task, and how many it had made there before: the same in every
/// execution.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceSignature {
    kind: ResourceType,
    place: &'static Location<'static>,
    task: u64,
    count: u32,
}

impl ResourceSignature {
    /// The signature of an object that was made in a constant.
    #[track_caller]
    pub const fn new_const(kind: ResourceType) -> ResourceSignature {
        ResourceSignature { kind, place: Location::caller(), task: 0, count: 1 }
    }

    /// The signature of an object that is made now.
    #[track_caller]
    pub(crate) fn now(kind: ResourceType) -> ResourceSignature {
        let place = Location::caller();
        let (task, count) = context::count_resource(place);
        ResourceSignature { kind, place, task, count }
    }

    /// A number for the place where the object was made.
    pub fn static_create_location_hash(&self) -> u64 {
        hash(&(self.place.file(), self.place.line(), self.place.column()))
    }

    /// A number for all of it.
    pub fn signature_hash(&self) -> u64 {
        hash(self)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl fmt::Debug for ResourceSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceSignature")
            .field("type", &self.kind)
            .field("static_create_location", &self.place)
            .field("task", &self.task)
            .field("count", &self.count)
            .finish()
    }
}

impl fmt::Display for ResourceSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[ no. {} at {} by {} ]", self.kind, self.count, self.place, self.task)
    }
}
