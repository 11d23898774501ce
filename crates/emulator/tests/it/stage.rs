//! A place where a few instructions are run natively or emulated, with all registers given and compared.
//!
//! The stage is one mapping: a page with registers, pages of data, and code. The code is a prologue
//! that loads the vector registers, the case, and an epilogue that stores them; both ways run all of it.
//! Natively, an entry and an exit around it load and store the general registers and the flags.

use unpick_emulator::{Enter, Footprint, Host, Machine, Obstacle, Registers};

const SIZE: usize = 2 << 20;
/// Places in the stage.
const INPUT: usize = 0;
const OUTPUT: usize = 256;
const OWN_STACK: usize = 512;
const TARGET: usize = 520;
const DATA: usize = 4096;
pub(crate) const DATA_SIZE: usize = 2 * 4096;
/// In the data: what the vector registers hold at first, and at last.
const VECTORS: usize = DATA;
const VECTORS_AFTER: usize = DATA + 512;
/// The middle of the data that cases use.
pub(crate) const MIDDLE: usize = DATA + DATA_SIZE / 2;
const CODE: usize = DATA + DATA_SIZE + 4096;

pub(crate) struct Stage {
    start: *mut u8,
    end: usize,
    entry: usize,
    prologue: usize,
    epilogue: usize,
    exit: usize,
    avx: bool,
}

/// What there is after a case.
#[derive(PartialEq)]
pub(crate) struct After {
    pub(crate) registers: Registers,
    pub(crate) data: Vec<u8>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let avx = std::is_x86_feature_detected!("avx");
        let mut stage =
            Stage { start: start.cast(), end: CODE, entry: 0, prologue: 0, epilogue: 0, exit: 0, avx };
        stage.write_frame();
        stage
    }

    pub(crate) fn address(&self, place: usize) -> u64 {
        self.start as u64 + place as u64
    }

    pub(crate) fn data(&mut self) -> &mut [u8] {
        // SAFETY: it is within the mapping, which is ours.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(DATA), DATA_SIZE) }
    }

    fn write_frame(&mut self) {
        self.entry = self.end;
        self.bytes(&[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57]);
        self.with_place(&[0x48, 0x89, 0x25], OWN_STACK);
        self.with_place(&[0xff, 0x35], INPUT + 128);
        self.bytes(&[0x9d]);
        for number in (0..16).filter(|&number| number != 4).chain([4]) {
            self.general(number, 0x8b, INPUT);
        }
        self.prologue = self.end;
        for number in 0..16 {
            self.vector(number, false, VECTORS);
        }
        self.with_place(&[0xff, 0x25], TARGET);
        self.epilogue = self.end;
        for number in 0..16 {
            self.vector(number, true, VECTORS_AFTER);
        }
        self.bytes(&[0xeb, 0x00]);
        self.exit = self.end;
        for number in 0..16 {
            self.general(number, 0x89, OUTPUT);
        }
        self.with_place(&[0x48, 0x8b, 0x25], OWN_STACK);
        self.bytes(&[0x9c]);
        self.with_place(&[0x8f, 0x05], OUTPUT + 128);
        if self.avx {
            self.bytes(&[0xc5, 0xf8, 0x77]);
        }
        self.bytes(&[0xfc, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        assert!(self.end + bytes.len() < SIZE);
        // SAFETY: within the mapping, behind what is used.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(self.end), bytes.len()) };
        self.end += bytes.len();
    }

    fn with_place(&mut self, bytes: &[u8], place: usize) {
        self.bytes(bytes);
        let distance = place as i32 - (self.end as i32 + 4);
        self.bytes(&distance.to_le_bytes());
    }

    fn general(&mut self, number: usize, code: u8, place: usize) {
        let prefix = if number < 8 { 0x48 } else { 0x4c };
        self.with_place(&[prefix, code, ((number & 7) << 3 | 5) as u8], place + 8 * number);
    }

    fn vector(&mut self, number: usize, store: bool, place: usize) {
        let (code, place) = (((number & 7) << 3 | 5) as u8, place + 32 * number);
        if self.avx {
            let prefix = if number < 8 { 0xfe } else { 0x7e };
            self.with_place(&[0xc5, prefix, if store { 0x7f } else { 0x6f }, code], place);
        } else {
            let prefix = if number < 8 { 0x40 } else { 0x44 };
            self.with_place(&[prefix, 0x0f, if store { 0x11 } else { 0x10 }, code], place);
        }
    }

    /// Where the next case will be.
    pub(crate) fn next_case(&mut self, machine: &mut Machine) -> u64 {
        if self.end + 4096 > SIZE {
            machine.forget_code();
            self.end = self.exit + 1024;
        }
        self.address(self.end)
    }

    /// Puts a case there.
    pub(crate) fn set_case(&mut self, case: &[u8]) {
        let target = self.address(self.end);
        self.bytes(case);
        let distance = self.epilogue as i32 - (self.end as i32 + 5);
        self.bytes(&[0xe9]);
        self.bytes(&distance.to_le_bytes());
        // SAFETY: within the mapping.
        unsafe { self.start.add(TARGET).cast::<u64>().write(target) };
    }

    /// Emulates the case. The data are as before then.
    pub(crate) fn emulate(
        &mut self,
        machine: &mut Machine,
        input: &Registers,
    ) -> Result<(After, Footprint), Obstacle> {
        machine.begin(Registers { rip: self.address(self.prologue), ..*input });
        let mut host = UpTo { end: self.address(self.exit) };
        // SAFETY: the stage is ours, and its data are the stack.
        let result = unsafe { machine.run(&mut host, 1000) };
        let data = self.data().to_vec();
        let footprint = machine.take_footprint();
        // SAFETY: it was run just now.
        unsafe { footprint.restore() };
        result.map(|()| (After { registers: machine.registers, data }, footprint))
    }

    /// Runs the case.
    pub(crate) fn run(&mut self, input: &Registers) -> After {
        // SAFETY: the entry is a function, which keeps to the calling convention; what the case does was
        // emulated before, and stays within the stage.
        unsafe {
            let place = self.start.add(INPUT).cast::<u64>();
            place.cast::<[u64; 16]>().write(input.general);
            place.add(16).write(input.flags);
            let entry: extern "C" fn() = std::mem::transmute(self.start.add(self.entry));
            entry();
            let place = self.start.add(OUTPUT).cast::<u64>();
            let (general, flags) = (place.cast::<[u64; 16]>().read(), place.add(16).read());
            let registers = Registers { general, rip: self.address(self.exit), flags };
            After { registers, data: self.data().to_vec() }
        }
    }
}

/// Everything is code up to an address.
pub(crate) struct UpTo {
    pub(crate) end: u64,
}

impl Host for UpTo {
    fn enter(&mut self, machine: &mut Machine) -> Enter {
        if machine.registers.rip == self.end { Enter::End } else { Enter::Code }
    }
}
