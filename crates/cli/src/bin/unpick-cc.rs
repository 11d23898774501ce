//! `unpick cc`, as a program of one word.

use std::process::ExitCode;

fn main() -> ExitCode {
    unpick_cli::main()
}
