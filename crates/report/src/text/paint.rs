//! Colour, or none.

/// Colours text when told to. Nothing may be said by colour alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    /// What went wrong.
    pub(super) fn error(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// What to look at first.
    pub(super) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What to look at last.
    pub(super) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
