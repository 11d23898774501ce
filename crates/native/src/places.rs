//! Which location of the graph belongs to which bytes of memory.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Value};

use crate::shadow::AddressMap;

/// Bytes that are used as one: an atomic variable, a lock, ...
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) address: usize,
    /// Bytes: 1, 2, 4, 8 or 16.
    pub(crate) width: usize,
    /// What it is.
    pub(crate) kind: &'static str,
}

/// Addresses from here on are made up.
const MADE_UP: usize = 1 << 63;

/// Sets objects apart from addresses in the kernel; twice and four times as much, other things apart from objects.
const OBJECT: usize = 1 << 52;

/// What has a location and no memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MadeUp {
    /// The signal that wakes a thread, by its number.
    Wake(usize),
    /// Threads that wait at an address in the kernel.
    Queue(usize),
    /// The lock of an object that is too large to be used at once.
    Object(usize),
    /// The sleeps of a thread, by its number.
    Sleep(usize),
    /// The lock of sections that exclude each other.
    Sections,
}

impl Key {
    /// The key of something that has no memory.
    pub(crate) fn made_up(what: MadeUp) -> Key {
        let (number, kind) = match what {
            MadeUp::Wake(thread) => (2 * thread, "signal"),
            MadeUp::Queue(address) => (2 * address + 1, "futex"),
            MadeUp::Object(address) => (2 * (OBJECT | address) + 1, "atomic"),
            MadeUp::Sleep(thread) => (2 * (OBJECT << 1 | thread) + 1, "sleep"),
            MadeUp::Sections => (2 * (OBJECT << 2) + 1, "section"),
        };
        Key { address: MADE_UP | number << 3, width: 8, kind }
    }

    /// Whether there is no memory.
    #[inline(always)]
    pub(crate) fn is_made_up(self) -> bool {
        self.address >= MADE_UP
    }

    /// What a location without memory holds at first: a signal was not sent, nobody waits, and a lock is free.
    pub(crate) fn first_value(self) -> Value {
        Value::from(self.address >> 3 & 1 == 0)
    }
}

/// A location and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) key: Key,
    /// The run in which it is in use.
    run: u64,
    pub(crate) addr: Addr,
    /// What the bytes hold, if only ops have written to them.
    pub(crate) value: Value,
    /// The write that they hold.
    written: EventId,
}

impl Place {
    fn overlaps(&self, key: Key) -> bool {
        let own = self.key;
        own.address < key.address + key.width && key.address < own.address + own.width
    }
}

/// All locations of a run.
#[derive(Default)]
pub(crate) struct Places {
    /// By cell of eight bytes.
    cells: AddressMap<Vec<Place>>,
    run: u64,
    /// Keys of the locations, by number.
    pub(crate) keys: Vec<Option<Key>>,
    /// Values of sixteen bytes; a location holds the number of one.
    wide: Vec<u128>,
    numbers: std::collections::BTreeMap<u128, u64>,
}

impl Places {
    /// Forgets which locations are in use.
    pub(crate) fn begin(&mut self) {
        self.run += 1;
        self.keys.clear();
    }

    /// The location of a key in this run.
    #[inline(always)]
    pub(crate) fn find(&mut self, key: Key) -> Option<&mut Place> {
        let run = self.run;
        let places = self.cells.get_mut(&(key.address >> 3))?;
        places.iter_mut().find(|place| {
            place.key.address == key.address && place.key.width == key.width && place.run == run
        })
    }

    /// The number of a key's location in this run.
    pub(crate) fn known(&self, key: Key) -> Option<Addr> {
        let places = self.cells.get(&(key.address >> 3))?;
        let is_it = |place: &&Place| {
            place.key.address == key.address && place.key.width == key.width && place.run == self.run
        };
        places.iter().find(is_it).map(|place| place.addr)
    }

    /// Gives a key its location; the bytes hold `value`.
    pub(crate) fn set(&mut self, key: Key, addr: Addr, value: Value) {
        let place = Place { key, run: self.run, addr, value, written: EventId::INIT };
        let places = self.cells.entry(key.address >> 3).or_default();
        let run = self.run;
        places.retain(|place| place.run == run);
        places.push(place);
        if addr.index() >= self.keys.len() {
            self.keys.resize(addr.index() + 1, None);
        }
        self.keys[addr.index()] = Some(key);
    }

    /// Whether a location is in use that has a byte of these.
    pub(crate) fn any_in(&self, address: usize, size: usize) -> bool {
        let key = Key { address, width: size, kind: "" };
        self.in_use(key).next().is_some()
    }

    /// The locations in use that have some bytes in common with a key.
    pub(crate) fn in_use(&self, key: Key) -> impl Iterator<Item = Place> + '_ {
        // One of sixteen bytes may begin a cell before.
        let cells = (key.address >> 3).saturating_sub(1)..=(key.address + key.width - 1) >> 3;
        let places = cells.filter_map(|cell| self.cells.get(&cell)).flatten().copied();
        places.filter(move |place| place.run == self.run && place.overlaps(key))
    }

    /// Forgets a location.
    pub(crate) fn remove(&mut self, key: Key) {
        if let Some(places) = self.cells.get_mut(&(key.address >> 3)) {
            places.retain(|place| place.key.address != key.address || place.key.width != key.width);
        }
    }

    /// Forgets all locations that have a byte of these.
    pub(crate) fn forget(&mut self, address: usize, size: usize) {
        let range = Key { address, width: size.max(1), kind: "" };
        let keys: Vec<Key> = self.in_use(range).map(|place| place.key).collect();
        keys.into_iter().for_each(|key| self.remove(key));
    }

    /// Whether the bytes of a location are to hold what a write has written: not if they hold a newer one.
    pub(crate) fn is_newest(&mut self, graph: &Graph, key: Key, write: EventId) -> bool {
        let Some(place) = self.find(key) else { return false };
        let writes = graph.writes(place.addr);
        let newest = writes.last() == Some(&write) || {
            let latest = writes.iter().rev().find(|&&other| other == write || other == place.written);
            latest.is_none_or(|&latest| latest == write)
        };
        if newest {
            place.written = write;
        }
        newest
    }

    /// The number of a value of sixteen bytes.
    pub(crate) fn number(&mut self, value: u128) -> Value {
        let wide = &mut self.wide;
        *self.numbers.entry(value).or_insert_with(|| {
            wide.push(value);
            wide.len() as u64 - 1
        })
    }

    /// The value of sixteen bytes that has a number.
    pub(crate) fn wide(&self, number: Value) -> u128 {
        self.wide.get(number as usize).copied().unwrap_or(0)
    }
}
