//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::flags::Flags;

const CODES: &str = "\
Exit codes: 0 holds, 1 violated, 2 error, 3 inconclusive.
Tests are those of cargo: one that fails gives 1. Ctrl-C gives the verdict so far, and 3.";

/// Finds concurrency bugs, and proves their absence within stated bounds.
///
/// Without a command, shows a bug in an example.
#[derive(Debug, Parser)]
#[command(name = "unpick", version, after_help = CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Checks an example with a bug, and shows the report
    Demo,
    /// Runs `cargo test --no-fail-fast` with settings for the checks in it, and lists what each came to
    Test(Test),
    /// Checks a C or C++ program that was compiled by `unpick cc` or `unpick c++`
    Run(Run),
    /// Runs one execution, the one that a report names: of a program, or of each check in `cargo test`
    Replay(Replay),
    /// Shows a report that was kept as JSON, or the list of the checks of a run
    Explain(Explain),
    /// Runs the bench of bugs under several strategies, and prints how they compare
    ///
    /// The bench is part of unpick's sources, and is built first. `unpick compare --help` shows its options.
    #[command(disable_help_flag = true)]
    Compare {
        /// Options of the comparison, such as --strategies optimal,cb-dpor --time 2s
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<OsString>,
    },
    /// Says what a crate uses of loom or Shuttle, and whether unpick covers it
    ///
    /// Ends with 0 if everything is covered, and with 1 if not.
    Migrate {
        /// Looks, and changes nothing
        #[arg(long, required = true)]
        check: bool,
        /// The folder of the crate
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Compiles and links C as the system's compiler does, for checking
    ///
    /// For build systems: CC="unpick cc", or CC=unpick-cc where one word is wanted. UNPICK_CC chooses the compiler.
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compiles and links C++ as the system's compiler does, for checking
    ///
    /// For build systems: CXX="unpick c++", or CXX=unpick-cxx where one word is wanted. UNPICK_CXX chooses the compiler.
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compiler),
    /// Lists the memory models
    Models,
    /// Lists the strategies, those for research apart
    Strategies,
    /// Lists the settings, as variables of the environment that checks look at
    Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Compiler {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) settings: Flags<true>,
    /// A folder for reports as JSON, one for each violation, which `unpick explain` shows
    #[arg(long, value_name = "FOLDER")]
    pub(crate) reports: Option<PathBuf>,
    /// The program
    pub(crate) program: OsString,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A file such as target/unpick/queue.tests.push_and_pop.json, or target/unpick/checks.jsonl for the last run
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) settings: Flags<false>,
    /// Arguments for `cargo test`, such as a name of tests
    #[arg(last = true, value_name = "CARGO TEST ARGS")]
    pub(crate) cargo: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Runs the C or C++ program under gdb, which stops where the violation shows
    #[arg(long, conflicts_with = "suppressions")]
    pub(crate) gdb: bool,
    /// For a C or C++ program, the file with known violations that the check had
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<String>,
    /// What the report says after UNPICK_REPLAY=: a token, or the file that holds one
    pub(crate) token: String,
    /// A C or C++ program and its arguments; or, after --, arguments for `cargo test`: name the test that the report
    /// is of
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM OR CARGO TEST ARGS")]
    pub(crate) arguments: Vec<OsString>,
}
