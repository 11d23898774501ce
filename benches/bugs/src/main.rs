//! Prints the table of `docs/bugs.md`: `cargo run -p unpick-bugs`.

use std::io::Write;
use std::process::ExitCode;

use unpick_bugs::{all, table};

fn main() -> ExitCode {
    let mut text = String::from(table::HEAD);
    for bug in all() {
        match table::measure(bug) {
            Ok(measured) => {
                let columns = [table::row(bug), table::fixed(&measured), table::found(&measured)];
                text += &format!("{}\n", columns.concat());
            }
            Err(error) => {
                // Nothing can be done about a closed standard error.
                let _ = writeln!(std::io::stderr(), "{}: {error}", bug.name);
                return ExitCode::from(2);
            }
        }
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}
