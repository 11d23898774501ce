//! A report that was kept as JSON, made readable.
//!
//! Shorter than the report of the check itself, which also has the source at hand: what is wrong,
//! and the steps, one a line. The format is that of `unpick_report::json`, version 1. Fields and
//! actions that are not known are passed over.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::native::quoted;

/// The version of the format that is understood.
const VERSION: u64 = 1;

/// The report in a file, as text.
pub(crate) fn explain(path: &Path) -> Result<String, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|problem| Error::Unreadable { path: path.to_path_buf(), problem })?;
    tell(&text).map_err(|problem| Error::NoReport { path: path.to_path_buf(), problem })
}

fn tell(text: &str) -> Result<String, String> {
    let report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match report["version"].as_u64() {
        Some(VERSION) => {}
        Some(other) => return Err(format!("it has version {other}, and {VERSION} is understood")),
        None => return Err(String::from("it has no version")),
    }
    let title = report["title"].as_str().ok_or("it has no title")?;
    let steps = report["steps"].as_array().ok_or("it has no steps")?;

    let mut out = format!("error: {}\n", clean(title));
    for line in report["message"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        for line in line.lines() {
            push(&mut out, &format!("  {}", clean(line)));
        }
    }
    if let Some(place) = place(&report["place"]) {
        push(&mut out, &format!("  --> {place}"));
    }
    push(&mut out, "\nthe failing execution (the steps marked > decide it):\n");
    for step in steps {
        push(&mut out, &told_step(&report, step));
    }
    let word = |name: &str| clean(report[name].as_str().unwrap_or("?"));
    push(&mut out, &format!("\nmodel: {}, strategy: {}", word("model"), word("strategy")));
    let program = report["program"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let program: String = program.map(|word| format!(" {}", clean(&quoted(word)))).collect();
    push(&mut out, &format!("replay: unpick replay {}{program}", word("token")));
    Ok(out)
}

fn push(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("a string takes everything");
}

/// One line: whether the step decides, its number, its thread, what happened, and where.
fn told_step(report: &Value, step: &Value) -> String {
    let mark = if step["deciding"] == true { ">" } else { " " };
    let number = step["number"].as_u64().unwrap_or(0);
    let thread = name(report, "threads", &step["thread"]);
    let action = told_action(report, &step["action"]);
    let place = place(&step["place"]).map(|place| format!("  ({place})")).unwrap_or_default();
    format!("{mark} {number:3}  {thread}: {action}{place}")
}

fn told_action(report: &Value, action: &Value) -> String {
    let word = |field: &str| clean(action[field].as_str().unwrap_or("?"));
    let object = || name(report, "objects", &action["object"]);
    let call = || format!("{}.{}", object(), word("name"));
    let wrote = || value(report, action, &action["value"]);
    let thread = || name(report, "threads", &action["thread"]);
    match (action["type"].as_str().unwrap_or("?"), action["name"].as_str()) {
        // The value of a lock says nothing that its name does not.
        ("write" | "update", Some("lock" | "try_lock" | "unlock")) => format!("{}()", call()),
        ("read", _) => format!("{}({}) = {}", call(), word("mode"), seen(report, action)),
        ("write", _) => format!("{}({}, {})", call(), wrote(), word("mode")),
        ("update", _) => {
            format!("{}({}) wrote {}, saw {}", call(), word("mode"), wrote(), seen(report, action))
        }
        ("fence", _) => format!("fence({})", word("mode")),
        ("spawn", _) => format!("spawn {}", thread()),
        ("join", _) => format!("join {}", thread()),
        ("end", _) => String::from("end"),
        ("choice", _) => format!("chose {} of {}", action["value"], action["bound"]),
        ("label", _) => word("text"),
        ("access", _) => format!("{} {}", object(), if action["writes"] == true { "write" } else { "read" }),
        ("failure", _) => {
            let message = action["message"].as_str().and_then(|message| message.lines().next());
            clean(message.unwrap_or("?"))
        }
        ("panic", _) => {
            let message = action["message"].as_str().and_then(|message| message.lines().next());
            format!("panic: {}", clean(message.unwrap_or("?")))
        }
        ("crash", _) => format!("crash: {}", word("problem")),
        ("allocation", _) => format!("allocates {} bytes", action["size"]),
        ("free", _) => String::from("frees the block"),
        ("waits", _) => format!("waits {}", word("reason")),
        (other, _) => format!("({})", clean(other)),
    }
}

/// A value that was seen, the step that wrote it, and why it may be seen though a newer one is there.
fn seen(report: &Value, action: &Value) -> String {
    let seen = &action["seen"];
    let from = seen["from"].as_u64().and_then(|index| report["steps"].get(index as usize));
    let from = match from.and_then(|step| step["number"].as_u64()) {
        Some(number) => format!("from #{number}"),
        None => String::from("the initial value"),
    };
    let stale = match (seen["stale"] == true, seen["why"].as_str()) {
        (true, Some(why)) => format!(", stale: {}", clean(why)),
        (true, None) => String::from(", stale"),
        (false, _) => String::new(),
    };
    format!("{}, {from}{stale}", value(report, action, &seen["value"]))
}

/// A value, as the type of the object spells it.
fn value(report: &Value, action: &Value, value: &Value) -> String {
    let object = action["object"].as_u64().and_then(|index| report["objects"].get(index as usize));
    match (object.and_then(|object| object["kind"].as_str()), value.as_u64()) {
        (Some("AtomicBool"), Some(number)) => (number != 0).to_string(),
        (Some("AtomicPtr"), Some(0)) => String::from("null"),
        (Some("AtomicPtr"), Some(address)) => format!("{address:#x}"),
        _ => value.to_string(),
    }
}

/// The name of a thread or an object.
fn name(report: &Value, list: &str, index: &Value) -> String {
    let entry = index.as_u64().and_then(|index| report[list].get(index as usize));
    clean(entry.and_then(|entry| entry["name"].as_str()).unwrap_or("?"))
}

fn place(place: &Value) -> Option<String> {
    Some(format!("{}:{}", clean(place["file"].as_str()?), place["line"].as_u64()?))
}

/// Text from a file, with nothing in it that a terminal obeys.
fn clean(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] }).collect()
}
