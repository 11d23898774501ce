//! A cell in a process of its own: one that hangs, dies or ends the process is a result like others.
//!
//! The child is this same program, started with [`CELL`] as its first argument and the cell as JSON after
//! it. It writes one line of JSON, and ends.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use unpick_runtime::interrupt;

use crate::measure::{Budget, Cell, Measured, measure};
use crate::program::{Form, Program};

/// The first argument of a child.
pub const CELL: &str = "--cell";

/// What a child has beyond the time after which it should have ended by itself.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a cell in a child; nothing comes of it if the process was interrupted.
pub fn run(cell: &Cell, budget: &Budget) -> Option<Measured> {
    if interrupt::requested() {
        return None;
    }
    let started = start(cell, budget);
    let measured = started.and_then(|child| wait(child, budget)).unwrap_or_else(Measured::failed);
    // The child may have been interrupted too.
    (!interrupt::requested()).then_some(measured)
}

fn start(cell: &Cell, budget: &Budget) -> Result<Child, String> {
    let own = std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
    let mut command = Command::new(own);
    command.arg(CELL).arg(told(cell, budget).to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("no process for the cell: {error}"))
}

/// Waits until the child has ended, and ends it if that takes too long.
fn wait(mut child: Child, budget: &Budget) -> Result<Measured, String> {
    let limit = budget.hang() + GRACE;
    let started = Instant::now();
    // A line of some hundred points fits the buffer of a pipe; reading on a thread of its own is safe for more.
    let mut pipe = child.stdout.take().ok_or("the child has no output")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).map(|_| text)
    });
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() >= limit || interrupt::requested() => {
                // One that has just ended cannot be killed any more.
                let _ = child.kill();
                let _ = child.wait();
                return Err(match interrupt::requested() {
                    true => String::from("interrupted"),
                    false => format!("no end within {} s", limit.as_secs()),
                });
            }
            Ok(None) => std::thread::sleep(pause),
            Err(error) => return Err(format!("the child was lost: {error}")),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let text = reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader has died")));
    let text = text.map_err(|error| format!("the child cannot be read: {error}"))?;
    understood(&text, status)
}

fn understood(text: &str, status: ExitStatus) -> Result<Measured, String> {
    // What the program under test prints comes before the line that counts.
    let line = text.lines().last().unwrap_or("");
    let value: Option<Value> = serde_json::from_str(line).ok();
    let measured = value.as_ref().and_then(Measured::from_json).filter(|_| status.success());
    measured.ok_or_else(|| format!("the process ended with {status}"))
}

fn told(cell: &Cell, budget: &Budget) -> Value {
    json!({
        "program": cell.program,
        "form": cell.form.name(),
        "strategy": cell.strategy,
        "seed": cell.seed,
        "seconds": budget.cpu.as_secs_f64(),
        "executions": budget.executions,
        "events": budget.events,
        "model": budget.model,
    })
}

fn heard(value: &Value) -> Option<(Cell, Budget)> {
    let text = |name: &str| value[name].as_str().map(str::to_string);
    let cell = Cell {
        program: text("program")?,
        form: Form::named(value["form"].as_str()?)?,
        strategy: text("strategy")?,
        seed: value["seed"].as_u64()?,
    };
    let cpu = Duration::try_from_secs_f64(value["seconds"].as_f64()?).ok()?;
    let events = value["events"].as_u64().and_then(|events| usize::try_from(events).ok());
    Some((cell, Budget { cpu, executions: value["executions"].as_u64(), events, model: text("model") }))
}

/// What a child does: runs the cell that it was given, and writes what came of it.
///
/// # Errors
///
/// When the cell is not understood, or nobody reads the result.
pub fn child(programs: &[Program], text: &str) -> Result<(), String> {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let asked = value.as_ref().and_then(heard);
    let (cell, budget) =
        asked.ok_or_else(|| format!("`{text}` is no cell; leave `{CELL}` to this program"))?;
    let program = programs.iter().find(|program| program.name == cell.program);
    let program = program.ok_or_else(|| format!("there is no program `{}`", cell.program))?;
    let measured = measure(program, &cell, &budget);
    let measured = measured.unwrap_or_else(|error| Measured::failed(error.to_string()));
    let line = format!("\n{}\n", measured.to_json());
    let written = io::stdout().lock().write_all(line.as_bytes());
    written.map_err(|error| format!("the result cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_survives_the_way_to_a_child() {
        let cell = Cell {
            program: String::from("queue"),
            form: Form::Fixed,
            strategy: String::from("pct:3"),
            seed: u64::MAX,
        };
        for (executions, events, model) in [(None, None, None), (Some(7), Some(9), Some(String::from("sc")))]
        {
            let budget = Budget { cpu: Duration::from_millis(1500), executions, events, model };
            assert_eq!(heard(&told(&cell, &budget)), Some((cell.clone(), budget)));
        }
        assert_eq!(heard(&json!({"program": "queue"})), None);
    }
}
