//! A finding as JSON: everything that is known, for other programs.
//!
//! Format, version 1. Fields are never removed and never change their meaning within a version;
//! new ones may appear, and so may new types of action. A `place` is
//! `{"file", "line", "column"}` or null; lines and columns count from 1, columns in characters.
//! Indices count from 0. Values are numbers up to 2^64 - 1, so a reader that keeps numbers as
//! doubles loses digits beyond 2^53.
//!
//! | field | holds |
//! |---|---|
//! | `version` | 1 |
//! | `title`, `message` | what is wrong in a word or two; in sentences, a list |
//! | `place` | where it showed |
//! | `model`, `strategy` | names |
//! | `execution` | number of the failing execution, from 1 |
//! | `token` | what `UNPICK_REPLAY` takes |
//! | `threads` | list of `name`, `spawned` (a place) |
//! | `objects` | list of `kind`, `name` |
//! | `steps` | list of `number` (as the text report counts, from 1), `thread` (index), `place`, `deciding`, `action` |
//! | `stacks` | list of `title`, `frames`: list of `function`, `place` |
//!
//! An `action` has a `type`, and with it:
//!
//! | type | fields |
//! |---|---|
//! | `read` | `name`, `object` (index), `mode`, `seen`, `expected` (null unless an exchange failed) |
//! | `write` | `name`, `object`, `mode`, `value`, `before` (index of a step that is newer, or null) |
//! | `update` | `name`, `object`, `mode`, `seen`, `value` (that was written) |
//! | `fence` | `mode` |
//! | `spawn`, `join` | `thread` (index) |
//! | `end` | |
//! | `choice` | `value`, `bound` |
//! | `label` | `text` |
//! | `access` | `object`, `writes` |
//! | `allocation` | `size` in bytes, of the block that the violation is about |
//! | `free` | of that block |
//! | `crash` | `problem` |
//! | `panic`, `failure` | `message` |
//! | `waits` | `reason` |
//! | `unknown` | of a kind that this version has no name for |
//!
//! `seen` is `{"value", "from", "stale", "why"}`: `from` is the index of the step that wrote the
//! value, or null for the initial value, and `why` is null or a text. A `mode` is spelled as Rust
//! does (`Relaxed`, ..., `SeqCst`), or `plain`.

use serde_json::{Value, json};
use unpick_core::trace::{Action, Finding, Place, Seen, Source, Step};

/// The finding as a JSON object; the module's documentation describes the fields.
///
/// ```
/// use unpick_core::trace::{Finding, Trace};
///
/// let finding = Finding {
///     title: "panic".into(),
///     message: vec!["it was 0".into()],
///     place: None,
///     trace: Trace::default(),
///     token: "1.abc".into(),
///     model: "cpp20".into(),
///     strategy: "optimal".into(),
///     execution: 17,
/// };
/// let value = unpick_report::json(&finding);
/// assert_eq!(value["version"], 1);
/// assert_eq!(value["execution"], 17);
/// ```
pub fn json(finding: &Finding) -> Value {
    let trace = &finding.trace;
    let threads =
        trace.threads.iter().map(|t| json!({ "name": t.name, "spawned": place(t.spawned.as_ref()) }));
    let objects = trace.objects.iter().map(|o| json!({ "kind": o.kind, "name": o.name }));
    let steps = trace.steps.iter().enumerate().map(|(index, s)| step(index, s));
    let stacks = trace.stacks.iter().map(|s| {
        let frames = s.frames.iter().map(|(f, p)| json!({ "function": f, "place": place(p.as_ref()) }));
        json!({ "title": s.title, "frames": frames.collect::<Vec<_>>() })
    });
    json!({
        "version": 1,
        "title": finding.title,
        "message": finding.message,
        "place": place(finding.place.as_ref()),
        "model": finding.model,
        "strategy": finding.strategy,
        "execution": finding.execution,
        "token": finding.token,
        "threads": threads.collect::<Vec<_>>(),
        "objects": objects.collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "stacks": stacks.collect::<Vec<_>>(),
    })
}

fn place(place: Option<&Place>) -> Value {
    match place {
        Some(p) => json!({ "file": p.file, "line": p.line, "column": p.column }),
        None => Value::Null,
    }
}

fn step(index: usize, step: &Step) -> Value {
    json!({
        "number": index + 1,
        "thread": step.thread,
        "place": place(step.place.as_ref()),
        "deciding": step.deciding,
        "action": action(&step.action),
    })
}

fn action(action: &Action) -> Value {
    match action {
        Action::Read { name, object, mode, seen: s, expected } => json!({
            "type": "read", "name": name, "object": object, "mode": mode.name(),
            "seen": seen(s), "expected": expected,
        }),
        Action::Write { name, object, mode, value, before } => json!({
            "type": "write", "name": name, "object": object, "mode": mode.name(),
            "value": value, "before": before,
        }),
        Action::Update { name, object, mode, seen: s, value } => json!({
            "type": "update", "name": name, "object": object, "mode": mode.name(),
            "seen": seen(s), "value": value,
        }),
        Action::Call { call, object, part, after } => json!({
            "type": "call", "call": call, "object": object, "part": part, "after": after,
        }),
        Action::Fence { mode } => json!({ "type": "fence", "mode": mode.name() }),
        Action::Spawn { thread } => json!({ "type": "spawn", "thread": thread }),
        Action::Join { thread } => json!({ "type": "join", "thread": thread }),
        Action::End => json!({ "type": "end" }),
        Action::Choice { value, bound } => json!({ "type": "choice", "value": value, "bound": bound }),
        Action::Label { text } => json!({ "type": "label", "text": text }),
        Action::Access { object, writes } => json!({ "type": "access", "object": object, "writes": writes }),
        Action::Allocation { size } => json!({ "type": "allocation", "size": size }),
        Action::Free => json!({ "type": "free" }),
        Action::Crash { problem } => json!({ "type": "crash", "problem": problem }),
        Action::Panic { message } => json!({ "type": "panic", "message": message }),
        Action::Failure { message } => json!({ "type": "failure", "message": message }),
        Action::Waits { reason } => json!({ "type": "waits", "reason": reason }),
        _ => json!({ "type": "unknown" }),
    }
}

fn seen(seen: &Seen) -> Value {
    let from = match seen.source {
        Source::Initial => None,
        Source::Step(step) => Some(step),
    };
    json!({ "value": seen.value, "from": from, "stale": seen.stale, "why": seen.why })
}
