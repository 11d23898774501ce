//! A finding for the terminal.
//!
//! From top to bottom: what is wrong and where, the failing execution with one column a thread,
//! why stale values may be seen, call stacks, and how to run the execution again. Where the columns
//! do not fit the width, the steps stand under the names of their threads instead. Colour is off
//! unless asked for, and only repeats what the text says anyway. Text that comes from the program
//! under test is shown with its control characters escaped.
//!
//! Every step is shown: making an execution smaller is not done here.

mod list;
mod paint;
mod rows;
mod table;
mod wording;
mod wrap;

use unpick_core::trace::{Finding, Frame, Place, Stack};

use paint::Paint;
use rows::Rows;
use wrap::{clean, width, wrap};

/// Beginnings of the names of functions that belong to the runtime.
const RUNTIME: &[&str] = &["unpick", "corosensei", "std::panicking", "core::panicking", "std::rt", "__rust"];

/// How to show a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to colour, with ANSI escapes.
    pub colour: bool,
    /// Columns of the screen. Single words that are longer, and the replay line, go beyond.
    pub width: usize,
    /// Whether call stacks show the functions of the runtime.
    pub runtime_frames: bool,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions { colour: false, width: 100, runtime_frames: false }
    }
}

impl TextOptions {
    /// As the terminal is wide, as far as the environment tells.
    pub fn of_terminal() -> TextOptions {
        let usual = TextOptions::default();
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        TextOptions { width: columns.filter(|&columns| columns >= 40).unwrap_or(usual.width), ..usual }
    }
}

/// The finding as text of several lines, each with its end.
///
/// ```
/// use unpick_core::trace::{Finding, Trace};
/// use unpick_report::{TextOptions, text};
///
/// let finding = Finding {
///     title: "data race".into(),
///     message: vec!["T1 writes `cell` while main reads it".into()],
///     place: None,
///     line: None,
///     trace: Trace::default(),
///     token: "1.abc".into(),
///     model: "cpp20".into(),
///     strategy: "optimal".into(),
///     execution: 17,
/// };
/// let report = text(&finding, &TextOptions { width: 80, ..TextOptions::default() });
/// assert_eq!(
///     report,
///     "error: data race\n  \
///        T1 writes `cell` while main reads it\n\
///      \n\
///      model: cpp20, strategy: optimal, execution 17\n\
///      replay: UNPICK_REPLAY=1.abc\n",
/// );
/// ```
pub fn text(finding: &Finding, options: &TextOptions) -> String {
    numbered(finding, 1, 1, options)
}

/// The same for one of several findings: its title says which it is, from 1, and of how many.
pub fn numbered(finding: &Finding, number: usize, of: usize, options: &TextOptions) -> String {
    let paint = Paint(options.colour);
    let suffix = if of > 1 { format!(" ({number} of {of})") } else { String::new() };
    let sections = [
        headline(finding, &suffix, options, paint),
        steps(finding, options, paint),
        stacks(&finding.trace.stacks, options, paint),
        footer(finding),
    ];
    let mut out = String::new();
    for section in sections.iter().filter(|s| !s.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in section {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

fn headline(finding: &Finding, suffix: &str, options: &TextOptions, paint: Paint) -> Vec<String> {
    let title = paint.strong(&clean(&finding.title));
    let mut out = vec![format!("{}: {title}{suffix}", paint.error("error"))];
    for line in finding.message.iter().flat_map(|m| m.lines()) {
        // Messages align their own parts, as those of `assert_eq!` do.
        let indent = 2 + line.chars().take_while(|c| *c == ' ').count().min(8);
        out.extend(wrap(&clean(line), options.width, indent, indent));
    }
    if let Some(place) = &finding.place {
        out.extend(excerpt(place, finding.line.as_deref(), options, paint));
    }
    out
}

/// The place, and its line of source where that is known, with a mark under the column.
fn excerpt(place: &Place, line: Option<&str>, options: &TextOptions, paint: Paint) -> Vec<String> {
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let site = format!("{}:{}:{}", clean(&place.file), place.line, place.column);
    let mut out = vec![format!("{margin}{} {site}", paint.faint("-->"))];
    let Some(line) = line else { return out };
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    let column = (place.column.saturating_sub(1) as usize).saturating_sub(indent);
    let line: Vec<char> = line.chars().skip(indent).collect();
    let room = options.width.saturating_sub(number.len() + 3).max(20);
    let (shown, mark) = crop(&line, column, room);
    let bar = paint.faint("|");
    out.push(format!("{margin} {bar}"));
    out.push(format!("{} {bar} {shown}", paint.faint(&number)));
    out.push(format!("{margin} {bar} {}{}", " ".repeat(mark), paint.error("^")));
    out
}

/// The part of a line around a column that fits, and how far into it the column is.
fn crop(line: &[char], column: usize, room: usize) -> (String, usize) {
    let cut = |from: usize, to: usize| {
        clean(&line[from.min(line.len())..to.min(line.len())].iter().collect::<String>())
    };
    if width(&cut(0, line.len())) <= room {
        return (cut(0, line.len()), width(&cut(0, column)));
    }
    // Wide characters make the part wider than `room`; those are rare enough in source.
    let body = room.saturating_sub(6);
    let from = if column + body / 4 < body { 0 } else { column - body / 2 };
    let before = if from > 0 { "..." } else { "" };
    let after = if from + body < line.len() { "..." } else { "" };
    let mark = before.len() + width(&cut(from, column));
    (format!("{before}{}{after}", cut(from, from + body)), mark)
}

fn steps(finding: &Finding, options: &TextOptions, paint: Paint) -> Vec<String> {
    let rows = Rows::new(&finding.trace);
    if rows.rows.is_empty() {
        return Vec::new();
    }
    let marked = rows.rows.iter().any(|r| r.deciding);
    let legend = if marked { " (the steps marked > decide it)" } else { "" };
    let mut out = wrap(&format!("the failing execution{legend}:"), options.width, 0, 2);
    out.push(String::new());
    out.extend(
        table::table(&rows, options.width, paint).unwrap_or_else(|| list::list(&rows, options.width, paint)),
    );
    if !rows.notes.is_empty() {
        out.push(String::new());
    }
    for (i, note) in rows.notes.iter().enumerate() {
        let mark = format!("[{}] ", i + 1);
        out.extend(wrap(&format!("{mark}{}", clean(note)), options.width, 0, mark.len()));
    }
    out
}

fn stacks(stacks: &[Stack], options: &TextOptions, paint: Paint) -> Vec<String> {
    let mut out = Vec::new();
    for stack in stacks {
        if !out.is_empty() {
            out.push(String::new());
        }
        let title = wrap(&format!("{}:", clean(&stack.title)), options.width, 0, 2);
        out.extend(title.iter().map(|line| paint.strong(line)));
        let own = stack.frames.iter().filter(|frame| !is_runtime(&frame.function)).count();
        // A stack of nothing but the runtime is shown whole: better than nothing at all.
        let whole = options.runtime_frames || own == 0;
        for Frame { function, place } in
            stack.frames.iter().filter(|frame| whole || !is_runtime(&frame.function))
        {
            let call = format!("  at {}", clean(function));
            let Some(place) = place else {
                out.push(call);
                continue;
            };
            let site = format!("({}:{})", clean(&place.file), place.line);
            if width(&call) + 1 + width(&site) <= options.width {
                out.push(format!("{call} {site}"));
            } else {
                out.extend([call, format!("     {site}")]);
            }
        }
        let hidden = if whole { 0 } else { stack.frames.len() - own };
        if hidden > 0 {
            let plural = if hidden == 1 { "" } else { "s" };
            out.push(paint.faint(&format!("  ({hidden} frame{plural} of the runtime not shown)")));
        }
    }
    out
}

fn is_runtime(function: &str) -> bool {
    // Methods of traits and references are spelled `<unpick::... as ...>::name`.
    let name = function.trim_start_matches(['<', '&', ' ']);
    RUNTIME.iter().any(|beginning| name.starts_with(beginning))
}

fn footer(finding: &Finding) -> Vec<String> {
    let Finding { model, strategy, execution, token, .. } = finding;
    let safe = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    // A token that means something to a shell is quoted, so that the line can be pasted.
    let token = clean(token);
    let token = if token.chars().all(safe) { token } else { format!("'{}'", token.replace('\'', r"'\''")) };
    vec![
        format!("model: {}, strategy: {}, execution {execution}", clean(model), clean(strategy)),
        format!("replay: UNPICK_REPLAY={token}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_of_source_are_cut_around_the_column() {
        let line: Vec<char> = "0123456789".repeat(8).chars().collect();
        for column in 0..=line.len() {
            let (shown, mark) = crop(&line, column, 30);
            assert!(width(&shown) <= 30, "{column}: {shown}");
            assert!(mark < 30, "{column}: {mark}");
            if column < line.len() {
                assert_eq!(shown.chars().nth(mark), Some(line[column]), "{column}: {shown}");
            }
        }
    }

    #[test]
    fn functions_of_the_runtime_are_told_from_those_of_the_program() {
        let runtime = ["unpick::sync::Mutex::lock", "<unpick_runtime::Fiber as Drop>::drop", "__rust_try"];
        assert!(runtime.into_iter().all(is_runtime));
        assert!(!["queue::push", "core::ops::call_once", "std::thread::spawn"].into_iter().any(is_runtime));
    }
}
