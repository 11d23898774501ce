//! Systems where nothing is emulated: the same names, and every run ends at once.

use crate::{Dead, Footprint, Host, Obstacle, Registers};

/// Whether machine code can be emulated here. It cannot.
pub fn is_supported() -> bool {
    false
}

/// None.
#[must_use]
pub fn dead_registers(_: u64, _: usize, _: &dyn Fn(usize) -> bool) -> Dead {
    Dead::default()
}

/// A machine that runs nothing.
#[derive(Debug, Default)]
pub struct Machine {
    /// The registers that the piece began with.
    pub registers: Registers,
    footprint: Footprint,
}

impl Machine {
    /// A machine.
    pub fn new() -> Machine {
        Machine::default()
    }

    /// A machine.
    pub fn take() -> Machine {
        Machine::default()
    }

    /// Does nothing.
    pub fn give_back(self) {}

    /// Forgets nothing.
    pub fn forget_code(&mut self) {}

    /// Begins a piece.
    pub fn begin(&mut self, registers: Registers) {
        self.registers = registers;
    }

    /// Does nothing.
    pub fn use_storage(&mut self, _: usize) {}

    /// Does nothing.
    pub fn fill_stack(&mut self, _: u8) {}

    /// Refuses.
    ///
    /// # Safety
    /// None is needed here.
    ///
    /// # Errors
    /// Always.
    pub unsafe fn run(&mut self, _: &mut dyn Host, _: usize) -> Result<(), Obstacle> {
        Err(Obstacle::Unsupported)
    }

    /// Refuses.
    ///
    /// # Safety
    /// None is needed here.
    ///
    /// # Errors
    /// Always.
    pub unsafe fn call(
        &mut self,
        _: usize,
        _: &[u64],
        _: usize,
        _: &mut dyn Host,
        _: usize,
    ) -> Result<u64, Obstacle> {
        Err(Obstacle::Unsupported)
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn touch(&mut self, _: usize, _: usize, _: bool) -> Result<(), Obstacle> {
        Err(Obstacle::Unsupported)
    }

    /// An empty footprint.
    pub fn footprint(&self) -> &Footprint {
        &self.footprint
    }

    /// An empty footprint.
    pub fn defined_footprint(&self) -> Footprint {
        Footprint::default()
    }

    /// An empty footprint.
    pub fn take_footprint(&mut self) -> Footprint {
        Footprint::default()
    }
}

pub(crate) mod probe {
    //! No memory is known.
    #[derive(Clone, Copy)]
    pub(crate) struct Probe;

    impl Probe {
        pub(crate) const PAGES: usize = 1;

        pub(crate) fn count_readable(self, _: &[usize]) -> usize {
            0
        }

        pub(crate) fn new() -> Probe {
            Probe
        }

        pub(crate) fn readable(self, _: usize) -> bool {
            false
        }

        /// # Safety
        /// None is needed here.
        pub(crate) unsafe fn writable(self, _: usize) -> bool {
            false
        }
    }
}
