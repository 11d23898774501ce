//! When the time of a wait is over.

/// When waits with a limit on time give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Timeouts {
    /// At any moment, as on a machine where everything may take long. The default.
    #[default]
    Any,
    /// Never: such a wait is one without a limit.
    Never,
    /// Only when nothing else can run, the earliest first; sleeping threads wait for that too. Whatever took
    /// place before happens before it.
    Last,
}
