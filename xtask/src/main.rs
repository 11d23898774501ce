//! Commands for those who work on unpick: `cargo xtask help` lists them.
//!
//! Each command has a file. A command that finds what it looks for to be wrong says so and ends with
//! status 1.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "these commands are made to be read")]

mod architecture;
mod bounded;
mod engine;
mod fuzz;
mod listed;
mod loops;
mod miri;
mod native;
mod native_examples;
mod numbers;
mod peers;
mod samplers;
mod shell;
mod shuttle;
mod suites;
mod test;
mod tidy;
mod toolchain;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// What went wrong, in words.
type Problem = String;

#[derive(Parser)]
#[command(about = "Commands for those who work on unpick")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs all tests, then `tidy`.
    Test(test::Test),
    /// Compares the engine with brute force on random programs.
    FuzzOracle(fuzz::FuzzOracle),
    /// Compares the search under bounds on preemptions with brute force on random programs.
    FuzzBounded(bounded::FuzzBounded),
    /// Explores the programs of `tests/false-holds`, and compares with what their files say.
    FalseHolds(loops::false_holds::FalseHolds),
    /// Compares random programs with waiting loops with what they do without.
    FuzzLoops(loops::fuzz::FuzzLoops),
    /// Runs Shuttle's own tests on the stand-in, and compares with what is known to end differently.
    ShuttleTests(shuttle::ShuttleTests),
    /// Runs litmus tests as C and C++ programs, and compares with what their files say.
    NativeMatrix(native::NativeMatrix),
    /// Builds and explores the examples in C and C++: projects, Boost.Lockfree, libcds.
    NativeExamples(native_examples::NativeExamples),
    /// Runs the unit tests of the engine under Miri.
    Miri(miri::Miri),
    /// Measures.
    #[command(subcommand)]
    Bench(Bench),
    /// Runs the loom tests of published crates on loom and on unpick.
    Suites(suites::Suites),
    /// Looks for files that are too long, modules without documentation, and words not to be used.
    Tidy,
}

#[derive(Subcommand)]
enum Bench {
    /// The engine's time, memory and system calls, alternately with the prototype's.
    Engine(engine::Engine),
    /// unpick, loom and shuttle side by side.
    Peers(peers::Peers),
}

/// The names of the commands.
fn commands() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_string()).collect()
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test(test) => test.run(),
        Command::FuzzOracle(fuzz) => fuzz.run(),
        Command::FuzzBounded(fuzz) => fuzz.run(),
        Command::FalseHolds(corpus) => corpus.run(),
        Command::FuzzLoops(fuzz) => fuzz.run(),
        Command::ShuttleTests(tests) => tests.run(),
        Command::NativeMatrix(matrix) => matrix.run(),
        Command::NativeExamples(examples) => examples.run(),
        Command::Miri(miri) => miri.run(),
        Command::Bench(Bench::Engine(engine)) => engine.run(),
        Command::Bench(Bench::Peers(peers)) => peers.run(),
        Command::Suites(suites) => suites.run(),
        Command::Tidy => tidy::run(&commands()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}
