//! The rows of the failing execution: mostly one a step, whatever the layout.
//!
//! Steps that only start and end threads are gathered, since they seldom explain anything:
//! neighbouring spawns of one thread share a row, and so do its joins, and the ends of several
//! threads. A step that decides the violation has a row of its own.

use unpick_core::trace::{Action, Place, Trace};

use super::wording::{Wording, wording};
use super::wrap::{clean, width};

/// Longest name of a thread, in columns.
const MAX_NAME: usize = 20;

/// Everything that a layout needs.
pub(super) struct Rows {
    /// Names of the threads, each different.
    pub(super) names: Vec<String>,
    /// The rows in their order.
    pub(super) rows: Vec<Row>,
    /// Notes that rows refer to by their number, from 1.
    pub(super) notes: Vec<String>,
}

/// One row.
pub(super) struct Row {
    /// Number of its step, or numbers.
    pub(super) number: String,
    /// Whose steps these are; several only if the same is to be said of all.
    pub(super) threads: Vec<usize>,
    /// What happened.
    pub(super) wording: Wording,
    /// Where: name of the file and line.
    pub(super) site: String,
    /// Whether the violation depends on it.
    pub(super) deciding: bool,
}

impl Rows {
    /// The rows of a trace.
    pub(super) fn new(trace: &Trace) -> Rows {
        let names = names(trace);
        let (mut rows, mut notes) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < trace.steps.len() {
            let next = end_of_run(trace, first);
            rows.push(row(trace, &names, first, next, &mut notes));
            first = next;
        }
        Rows { names, rows, notes }
    }
}

/// Where the steps end that share a row with the one at `first`.
fn end_of_run(trace: &Trace, first: usize) -> usize {
    let step = &trace.steps[first];
    let mut run = vec![step.thread];
    for next in &trace.steps[first + 1..] {
        let alike = match (&step.action, &next.action) {
            (Action::Spawn { .. }, Action::Spawn { .. }) => next.thread == step.thread,
            (Action::Join { .. }, Action::Join { .. }) => next.thread == step.thread,
            (Action::End, Action::End) => !run.contains(&next.thread),
            _ => false,
        };
        if !alike || step.deciding || next.deciding {
            break;
        }
        run.push(next.thread);
    }
    first + run.len()
}

/// The row of the steps from `first` up to `next`.
fn row(trace: &Trace, names: &[String], first: usize, next: usize, notes: &mut Vec<String>) -> Row {
    let steps = &trace.steps[first..next];
    let mut wording = wording(trace, names, first);
    if let Some(why) = wording.why.take() {
        let known = notes.iter().position(|n| *n == why);
        let note = known.unwrap_or_else(|| {
            notes.push(why);
            notes.len() - 1
        });
        let mark = format!(" [{}]", note + 1);
        match wording.details.last_mut() {
            Some(detail) => detail.push_str(&mark),
            None => wording.op.push_str(&mark),
        }
    }
    let mut threads = vec![steps[0].thread];
    for step in &steps[1..] {
        let name = |t: usize| names.get(t).map_or("?", String::as_str);
        match step.action {
            Action::Spawn { thread } | Action::Join { thread } => {
                wording.op.push_str(&format!(", {}", name(thread)));
                wording.prose = true;
            }
            _ => threads.push(step.thread),
        }
    }
    let number = if steps.len() == 1 { (first + 1).to_string() } else { format!("{}-{next}", first + 1) };
    let places: Vec<&Place> = steps.iter().filter_map(|s| s.place.as_ref()).collect();
    Row { number, threads, wording, site: site(trace, &places), deciding: steps[0].deciding }
}

/// The names of the threads; those that share one get their number too.
fn names(trace: &Trace) -> Vec<String> {
    let shared = |name: &str| trace.threads.iter().filter(|t| t.name == name).count() > 1;
    let mut names: Vec<String> = Vec::new();
    for (i, thread) in trace.threads.iter().enumerate() {
        let name = tail_cut(&clean(&thread.name), MAX_NAME);
        names.push(if shared(&thread.name) { format!("{name} (T{i})") } else { name });
    }
    // Steps of threads that the trace does not list must still have a column.
    let used = trace.steps.iter().map(|s| s.thread + 1).max().unwrap_or(0);
    names.extend((names.len()..used).map(|i| format!("T{i}")));
    names
}

/// File and line of the first place, with the last line too if the places are in one file.
fn site(trace: &Trace, places: &[&Place]) -> String {
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return String::new() };
    let lines = if first.file == last.file && first.line < last.line {
        format!("{}-{}", first.line, last.line)
    } else {
        first.line.to_string()
    };
    format!("{}:{lines}", clean(&short(trace, &first.file)))
}

/// The name of a file, with its folder if another file of the trace has the same name.
fn short(trace: &Trace, path: &str) -> String {
    let parts = |p: &str| p.rsplit(['/', '\\']).take(2).map(str::to_owned).collect::<Vec<_>>();
    let own = parts(path);
    let others = trace.steps.iter().filter_map(|s| s.place.as_ref()).map(|p| p.file.as_str());
    let shared = others.filter(|other| *other != path).any(|other| parts(other)[0] == own[0]);
    match own.as_slice() {
        [name, folder] if shared => format!("{folder}/{name}"),
        [name, ..] => name.clone(),
        [] => path.to_owned(),
    }
}

/// The text, its end replaced where it is too wide.
fn tail_cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width(&out) + 3 > columns {
            out.pop();
            break;
        }
    }
    out + "..."
}

/// The text, its beginning replaced where it is too wide.
pub(super) fn head_cut(text: &str, columns: usize) -> String {
    let reversed: String = text.chars().rev().collect();
    tail_cut(&reversed, columns).chars().rev().collect()
}
