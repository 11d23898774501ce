//! What is known of registers where a call returns to.

/// What was found out about a place.
#[derive(Clone, Debug, Default)]
pub struct Dead {
    /// A bit for each general register that is dead.
    pub registers: u16,
    /// Words of the stack on which that depends, as functions return to what they hold.
    pub words: Vec<(usize, u64)>,
}

impl Dead {
    /// Whether it is so at a place where the stack is mapped.
    ///
    /// # Safety
    /// The words that it depends on may be read.
    #[must_use]
    pub unsafe fn holds(&self) -> bool {
        // SAFETY: promised by the caller.
        self.words.iter().all(|&(address, value)| unsafe { *(address as *const u64) } == value)
    }
}
