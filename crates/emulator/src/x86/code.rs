//! The instructions that were met, by address, with what is to be done for them.
//!
//! All room is reserved at first: nothing may be allocated while a piece runs. When it is used up,
//! everything is forgotten.
//!
//! Code may be unloaded and replaced between two uses of a machine. So what was met before the last [`Code::doubt`] is
//! compared with the bytes that are there when it is next needed.

use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory};

use super::decode::{Action, Features, decode};
use super::probe::{self, Probe};
use super::stub::Stubs;
use crate::log::PAGE;
use crate::obstacle::{Name, Obstacle};

/// How many instructions are kept.
const ENTRIES: usize = 1 << 15;
/// Slots of the table from addresses to them; a power of two.
const SLOTS: usize = 4 * ENTRIES;
/// The bits of a slot that hold the number of an entry, plus one. The others hold the age in which it was last met.
const NUMBER: u32 = (1 << AGE_SHIFT) - 1;
const AGE_SHIFT: u32 = 16;
const LAST_AGE: u32 = u32::MAX >> AGE_SHIFT;
/// The longest instruction.
const LONGEST: usize = 15;
/// Ranges of addresses that are known to be code.
const RANGES: usize = 32;
/// Pages of a piece that are known to be readable: a system call for each instruction would take longer than all the rest.
const PAGES: usize = 32;

/// An instruction.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) address: u64,
    /// Where the instruction after it is.
    pub(crate) next: u64,
    pub(crate) action: Action,
}

/// The instructions that were met.
pub(crate) struct Code {
    pub(crate) stubs: Stubs,
    entries: Vec<Entry>,
    /// What the instructions were made of.
    bytes: Vec<[u8; LONGEST]>,
    /// The number of an entry, plus one, and an age; 0: none.
    table: Box<[u32]>,
    /// How often all was doubted.
    age: u32,
    features: Features,
    infos: InstructionInfoFactory,
    executable: Vec<std::ops::Range<usize>>,
    /// Pages that could be read since the piece began; the first of them are in use.
    readable: [usize; PAGES],
    readable_len: usize,
}

impl Code {
    pub(crate) fn new() -> Option<Code> {
        let features = Features::new();
        let stubs = Stubs::new(features.has(iced_x86::CpuidFeature::AVX))?;
        let mut code = Code {
            stubs,
            entries: Vec::with_capacity(ENTRIES),
            bytes: Vec::with_capacity(ENTRIES),
            age: 0,
            table: vec![0; SLOTS].into_boxed_slice(),
            features,
            infos: InstructionInfoFactory::new(),
            executable: Vec::with_capacity(RANGES),
            readable: [0; PAGES],
            readable_len: 0,
        };
        // The tables of iced are made when they are first used, and its lists grow.
        code.decode(0x1000, &[0x0f, 0xc7, 0x0e]).ok()?;
        code.forget();
        Some(code)
    }

    pub(crate) fn forget(&mut self) {
        // Most of the table was never touched, so only rows of slots that are in use are emptied.
        for entry in self.entries.drain(..) {
            let mut slot = slot(entry.address);
            while self.table[slot] != 0 {
                self.table[slot] = 0;
                slot = (slot + 1) % SLOTS;
            }
        }
        self.bytes.clear();
        self.stubs.clear();
        self.executable.clear();
    }

    /// Code may have changed since: what was met is believed only after another look.
    pub(crate) fn doubt(&mut self) {
        self.executable.clear();
        if self.age == LAST_AGE {
            self.forget();
            self.age = 0;
        } else {
            self.age += 1;
        }
    }

    /// The instruction at an address.
    #[inline]
    pub(crate) fn at(&mut self, address: u64) -> Result<&Entry, Obstacle> {
        let mut slot = slot(address);
        let number = loop {
            let known = self.table[slot];
            if known == 0 {
                break self.meet(address)?;
            }
            let number = (known & NUMBER) as usize - 1;
            if self.entries[number].address == address {
                if known >> AGE_SHIFT == self.age {
                    break number;
                }
                break self.meet_again(address, slot, number)?;
            }
            slot = (slot + 1) % SLOTS;
        };
        Ok(&self.entries[number])
    }

    /// Looks whether an instruction is what it was. If not, nothing can be believed.
    #[cold]
    fn meet_again(&mut self, address: u64, slot: usize, number: usize) -> Result<usize, Obstacle> {
        let len = (self.entries[number].next - address) as usize;
        let start = address as usize;
        let mut bytes = [0; LONGEST];
        let found = self.fetch(start, &mut bytes)?;
        if len <= found && bytes[..len] == self.bytes[number][..len] {
            self.table[slot] = self.slot_of(number);
            return Ok(number);
        }
        self.forget();
        self.meet(address)
    }

    /// What a slot holds for an entry that is as it was met.
    fn slot_of(&self, number: usize) -> u32 {
        self.age << AGE_SHIFT | (number as u32 + 1)
    }

    #[cold]
    fn meet(&mut self, address: u64) -> Result<usize, Obstacle> {
        if self.entries.len() == ENTRIES || self.stubs.is_full() {
            self.forget();
        }
        let mut bytes = [0; LONGEST];
        let len = self.fetch(address as usize, &mut bytes)?;
        let entry = self.decode(address, &bytes[..len])?;
        self.entries.push(entry);
        self.bytes.push(bytes);
        let mut slot = slot(address);
        while self.table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        self.table[slot] = self.slot_of(self.entries.len() - 1);
        Ok(self.entries.len() - 1)
    }

    /// A new piece begins.
    pub(crate) fn begin(&mut self) {
        self.readable_len = 0;
    }

    /// Reads the bytes of an instruction; those after the first page may be missing.
    fn fetch(&mut self, address: usize, bytes: &mut [u8; LONGEST]) -> Result<usize, Obstacle> {
        let first = bytes.len().min(PAGE - address % PAGE);
        if self.stubs.addresses().contains(&address) || !self.is_code(address) {
            return Err(Obstacle::NoCode { address });
        }
        let whole = first == bytes.len() || address.checked_add(first).is_some_and(|next| self.is_code(next));
        let len = if whole { bytes.len() } else { first };
        // SAFETY: the pages that these bytes are in may be read, as was just seen, or since the piece has begun.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), len) };
        Ok(len)
    }

    /// Whether the page of this address may be read and executed.
    fn is_code(&mut self, address: usize) -> bool {
        let page = address - address % PAGE;
        if self.readable[..self.readable_len].contains(&page) {
            return true;
        }
        if !self.is_executable(address) || !Probe::new().readable(page) {
            return false;
        }
        if self.readable_len == PAGES {
            self.readable_len = 0;
        }
        self.readable[self.readable_len] = page;
        self.readable_len += 1;
        true
    }

    fn is_executable(&mut self, address: usize) -> bool {
        if self.executable.iter().any(|range| range.contains(&address)) {
            return true;
        }
        let Some(range) = probe::mapped(address, b"rx") else { return false };
        if self.executable.len() == RANGES {
            self.executable.clear();
        }
        self.executable.push(range);
        true
    }

    fn decode(&mut self, address: u64, bytes: &[u8]) -> Result<Entry, Obstacle> {
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            let name = Name::new("unknown");
            let reason = "such as one of AVX-512";
            return Err(Obstacle::Instruction { address: address as usize, name, reason });
        }
        let bytes = &bytes[..instruction.len()];
        let action = decode(&instruction, bytes, &self.features, &mut self.stubs, &mut self.infos);
        let action = action.map_err(|reason| {
            let name = Name::new(instruction.mnemonic());
            Obstacle::Instruction { address: address as usize, name, reason }
        })?;
        Ok(Entry { address, next: instruction.next_ip(), action })
    }
}

const _: () = assert!(ENTRIES < NUMBER as usize, "the number of an entry fits");

/// Where the search for an instruction begins: for neighbours at neighbours, so that few pages of the table are touched.
fn slot(address: u64) -> usize {
    address as usize % SLOTS
}
