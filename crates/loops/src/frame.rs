//! The registers of a thread that stands at an op: what its code keeps of a round that is not in memory.

use unpick_emulator::{R12, R13, R14, R15, RAX, RBP, RBX, RSP, Registers};

/// The registers that a callee must preserve, and where the call returns to, as the entry of an op has put them below the
/// caller's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Where they are.
    address: usize,
    /// r15, r14, r13, r12, rbp, rbx, and the return address; 0 for those that hold nothing.
    words: [u64; 7],
    /// A bit for each general register that holds nothing, since the code writes to it before it reads it.
    pub(crate) dead: u16,
}

/// The registers of a frame, in its order.
const PRESERVED: [usize; 6] = [R15, R14, R13, R12, RBP, RBX];

impl Frame {
    /// The frame at an address.
    ///
    /// # Safety
    ///
    /// An entry has put it there, and the call has not returned.
    pub unsafe fn read(address: usize) -> Frame {
        // SAFETY: the caller's promise.
        Frame { address, words: unsafe { *(address as *const [u64; 7]) }, dead: 0 }
    }

    /// Whether all bytes in which it differs from another one of the same call are this one.
    pub(crate) fn differs_by(&self, other: &Frame, filling: u8) -> bool {
        let bytes = |frame: &Frame| frame.words.map(u64::to_ne_bytes);
        let pairs = bytes(self).into_iter().flatten().zip(bytes(other).into_iter().flatten());
        self.is_near(other) && pairs.into_iter().all(|(own, other)| own == other || own == filling)
    }

    /// The frame with the bytes of `like` where it differs from another one, after the same code with other bytes in memory that is
    /// nobody's: what it has there came from that memory.
    pub(crate) fn but_undefined(mut self, other: &Frame, like: &Frame) -> Frame {
        let words = self.words.iter_mut().zip(other.words).zip(like.words);
        for ((word, other), like) in words {
            let [mut bytes, others, likes] = [*word, other, like].map(u64::to_ne_bytes);
            for ((byte, other), like) in bytes.iter_mut().zip(others).zip(likes) {
                if *byte != other {
                    *byte = like;
                }
            }
            *word = u64::from_ne_bytes(bytes);
        }
        self
    }

    /// The frame without registers that hold nothing.
    pub(crate) fn without(mut self, dead: u16) -> Frame {
        self.dead = dead;
        for (word, number) in self.words.iter_mut().zip(PRESERVED) {
            if dead >> number & 1 == 1 {
                *word = 0;
            }
        }
        self
    }

    /// The frame without registers that hold small numbers, a known mistake.
    #[cold]
    pub(crate) fn without_numbers(self) -> Frame {
        let small = self.words.iter().zip(PRESERVED).filter(|(word, _)| **word < 1 << 12);
        self.without(small.fold(0, |dead, (_, number)| dead | 1 << number))
    }

    /// Where the live part of the caller's stack begins: at the address to which the call returns.
    pub fn stack(&self) -> usize {
        self.address + size_of_val(&self.words) - size_of::<u64>()
    }

    /// The address to which the call returns.
    pub fn returns_to(&self) -> u64 {
        self.words[6]
    }

    /// Where the code is: two frames with the same place are of the same call.
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.returns_to(), self.stack())
    }

    /// The registers.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.words.into_iter()
    }

    /// Whether it is of the same call as another one.
    pub(crate) fn is_near(&self, other: &Frame) -> bool {
        self.place() == other.place()
    }

    /// The registers with which the caller goes on if the call returns `value`.
    pub(crate) fn registers(&self, value: u64) -> Registers {
        let rip = self.returns_to();
        let mut registers = Registers { rip, flags: 0x202, ..Registers::default() };
        let stack = (self.address + size_of_val(&self.words)) as u64;
        for (register, word) in PRESERVED.into_iter().zip(self.words).chain([(RAX, value), (RSP, stack)]) {
            registers.general[register] = word;
        }
        registers
    }

    /// The frame that an entry would make of these registers, which are those just after a call. The return address is
    /// in memory: it is taken to be that of `like` if the stack is at the same place, since the call left it there.
    pub(crate) fn at_call(registers: &Registers, like: Frame) -> Option<Frame> {
        let general = &registers.general;
        let stack = general[RSP] as usize;
        let address = stack - (size_of_val(&like.words) - size_of::<u64>());
        if address != like.address {
            return None;
        }
        // The byte at the top of the stack is part of the footprint, which has been compared.
        let mut words = [like.words[6]; 7];
        for (word, number) in words.iter_mut().zip(PRESERVED) {
            *word = general[number];
        }
        Some(Frame { address, words, dead: 0 }.without(like.dead))
    }
}

/// A frame in which pointers to blocks that are gone stand for what is known of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    frame: Frame,
    /// A bit for each of these words.
    gone: u8,
}

impl From<Frame> for Settled {
    fn from(frame: Frame) -> Settled {
        Settled { frame, gone: 0 }
    }
}

impl Settled {
    /// The words.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + use<> {
        self.frame.words.into_iter().chain([self.frame.address as u64])
    }

    /// The frame; `settle`: what a word stands for, if it points to a block that is gone.
    pub(crate) fn new(mut frame: Frame, settle: impl Fn(u64) -> Option<u64>) -> Settled {
        let mut gone = 0;
        for (number, word) in frame.words.iter_mut().enumerate() {
            if let Some(form) = settle(*word) {
                *word = form;
                gone |= 1 << number;
            }
        }
        Settled { frame, gone }
    }
}
