//! Exit codes: the same for the command line and for programs that show a verdict.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything holds, or the command did what it was asked for.
    ///
    /// `unpick test`: all tests passed. `unpick demo`: the bug was found and shown.
    Holds,
    /// 1: a property is violated.
    ///
    /// `unpick test` and `unpick replay`: a test failed. Cargo does not tell why, so this is also
    /// the code of an inconclusive test that counts as failed, and of a check that could not be
    /// carried out; the message of the test says which.
    Violated,
    /// 2: the command could not be carried out: wrong arguments, a file that cannot be read, a
    /// program that does not build.
    Error,
    /// 3: no violation was found, but not everything was explored.
    ///
    /// Programs that show a verdict end with it, such as the examples, and all commands that were interrupted.
    Inconclusive,
    /// What another program ended with: `unpick cc` and `unpick c++` end as the compiler does.
    Passed(u8),
}

impl Exit {
    /// The number that the caller of the process sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Violated => 1,
            Exit::Error => 2,
            Exit::Inconclusive => 3,
            Exit::Passed(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
