//! Why a piece could not be followed to its end.

use std::fmt::{self, Write};

/// Why a piece could not be followed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Machine code cannot be emulated on this system.
    Unsupported,
    /// The piece did not end within so many instructions.
    Budget(usize),
    /// The code executes something that is not followed.
    Instruction {
        /// Where it is.
        address: usize,
        /// Its name in lower case.
        name: Name,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// Control goes to a place that is not code.
    NoCode {
        /// The place.
        address: usize,
    },
    /// The code reads or writes memory that is not there, or not for that.
    Unmapped {
        /// The first address of it.
        address: usize,
        /// Whether it writes.
        writes: bool,
    },
    /// The code would be stopped by the processor.
    Fault {
        /// Where the instruction is.
        address: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// The code touches more memory than there is room for.
    TooMuchMemory,
    /// The piece begins in a state of the processor that is not followed.
    State(&'static str),
    /// The host gave up; the reason.
    Host(&'static str),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Unsupported => f.write_str("machine code cannot be emulated on this system"),
            Obstacle::Budget(budget) => write!(f, "took more than {budget} instructions"),
            Obstacle::Instruction { address, name, reason } => {
                write!(f, "executes `{name}` at {address:#x}")?;
                if reason.is_empty() { Ok(()) } else { write!(f, " ({reason})") }
            }
            Obstacle::NoCode { address } => write!(f, "goes to {address:#x}, which is not code"),
            Obstacle::Unmapped { address, writes: false } => {
                write!(f, "reads memory that is not mapped, at {address:#x}")
            }
            Obstacle::Unmapped { address, writes: true } => {
                write!(f, "writes memory that is not mapped for it, at {address:#x}")
            }
            Obstacle::Fault { address, reason } => write!(f, "faults at {address:#x}: {reason}"),
            Obstacle::TooMuchMemory => f.write_str("touches too much memory"),
            Obstacle::State(reason) => f.write_str(reason),
            Obstacle::Host(reason) => write!(f, "the caller gave up: {reason}"),
        }
    }
}

impl std::error::Error for Obstacle {}

/// The name of an instruction, in place: no memory may be allocated while a piece runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; 23],
    len: u8,
}

impl Name {
    /// The letters and digits that `shown` shows, in lower case; the first of them if there are many.
    pub fn new(shown: impl fmt::Debug) -> Name {
        let mut name = Name { bytes: [0; 23], len: 0 };
        // The writer never fails.
        let _ = write!(name, "{shown:?}");
        name
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes().filter(u8::is_ascii_alphanumeric) {
            if let Some(place) = self.bytes.get_mut(usize::from(self.len)) {
                *place = byte.to_ascii_lowercase();
                self.len += 1;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
