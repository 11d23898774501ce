//! `cargo unpick`, which is `unpick`.

use std::process::ExitCode;

fn main() -> ExitCode {
    unpick_cli::main()
}
