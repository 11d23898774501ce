//! A stack for emulated code, and a host that lets everything run.

use unpick_emulator::{Enter, Host, Machine};

/// Everything is code.
pub(crate) struct Anywhere;

impl Host for Anywhere {
    fn enter(&mut self, _: &mut Machine) -> Enter {
        Enter::Code
    }
}

/// A stack for emulated code.
pub(crate) struct Stack(Vec<u64>);

impl Stack {
    pub(crate) fn new() -> Stack {
        Stack(vec![0; 1 << 17])
    }

    pub(crate) fn top(&mut self) -> usize {
        self.0.as_mut_ptr_range().end as usize
    }
}
