//! `unpick cc`, as a program of one word: it starts `unpick`, which looks at the name that it is called by.

mod shim;

use std::process::ExitCode;

fn main() -> ExitCode {
    shim::run("unpick-cc")
}
