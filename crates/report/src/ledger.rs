//! What the checks of a run came to: a line each in a file, and the table that is made of it.
//!
//! Tests run in several threads and processes. Each check adds a line to one file when it begins, and one when it has ended; lines
//! of the same check have the same `id`, and the later one counts. So a check that ended its process is not lost.
//!
//! Formatting and reading only: who writes the file, and when, is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

/// The version of the lines.
pub const VERSION: u64 = 1;

/// The variable of the environment that names the file.
pub const VARIABLE: &str = "UNPICK_CHECKS";

/// How a check has ended; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// A property is violated.
    Violated,
    /// The check could not be carried out.
    Error,
    /// The check did not come to its end: the process ended before.
    Unfinished,
    /// No violation was found, but not everything was explored.
    Inconclusive,
    /// Everything was explored, and no property is violated.
    Holds,
}

impl Ending {
    const ALL: [Ending; 5] =
        [Ending::Violated, Ending::Error, Ending::Unfinished, Ending::Inconclusive, Ending::Holds];

    fn word(self) -> &'static str {
        match self {
            Ending::Violated => "violated",
            Ending::Error => "error",
            Ending::Unfinished => "unfinished",
            Ending::Inconclusive => "inconclusive",
            Ending::Holds => "holds",
        }
    }

    /// What is said of several checks.
    fn plural(self) -> &'static str {
        match self {
            Ending::Error => "errors",
            Ending::Holds => "hold",
            _ => self.word(),
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Tells this check from all others of the run.
    pub id: String,
    /// The test program, by the name of its package and its own.
    pub program: String,
    /// The test, if its name is known.
    pub test: Option<String>,
    /// Where the check stands in the source: file and line.
    pub place: String,
    /// How it ended.
    pub ending: Ending,
    /// What more there is to say of it: what is violated, or why it is not conclusive.
    pub why: String,
    /// Name of the memory model.
    pub model: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Executions, those that were blocked left out.
    pub executions: u64,
    /// Executions that could not be completed.
    pub blocked: u64,
    /// How long it took.
    pub time: Duration,
    /// What was assumed, a sentence each.
    pub assumptions: Vec<String>,
}

impl Entry {
    /// A check that has begun.
    pub fn begun(id: String, program: String, test: Option<String>, place: String) -> Entry {
        Entry {
            id,
            program,
            test,
            place,
            ending: Ending::Unfinished,
            why: String::from("the process ended before the check did"),
            model: String::new(),
            strategy: String::new(),
            executions: 0,
            blocked: 0,
            time: Duration::ZERO,
            assumptions: Vec::new(),
        }
    }

    /// The line of the file, with its end.
    pub fn line(&self) -> String {
        let value = json!({
            "checks": VERSION,
            "id": self.id,
            "program": self.program,
            "test": self.test,
            "place": self.place,
            "verdict": self.ending.word(),
            "why": self.why,
            "model": self.model,
            "strategy": self.strategy,
            "executions": self.executions,
            "blocked": self.blocked,
            "seconds": self.time.as_secs_f64(),
            "assumptions": self.assumptions,
        });
        format!("{value}\n")
    }

    fn read(line: &str) -> Result<Entry, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match value["checks"].as_u64() {
            Some(VERSION) => {}
            Some(other) => return Err(format!("it has version {other}, and {VERSION} is understood")),
            None => return Err(String::from("it is no list of checks")),
        }
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_string();
        let number = |name: &str| value[name].as_u64().unwrap_or_default();
        let word = text("verdict");
        let ending = Ending::ALL.into_iter().find(|ending| ending.word() == word);
        let sentences = value["assumptions"].as_array().into_iter().flatten();
        Ok(Entry {
            id: text("id"),
            program: text("program"),
            test: value["test"].as_str().map(str::to_string),
            place: text("place"),
            ending: ending.ok_or_else(|| format!("there is no verdict `{word}`"))?,
            why: text("why"),
            model: text("model"),
            strategy: text("strategy"),
            executions: number("executions"),
            blocked: number("blocked"),
            time: Duration::try_from_secs_f64(value["seconds"].as_f64().unwrap_or_default())
                .unwrap_or_default(),
            assumptions: sentences.filter_map(|text| text.as_str().map(str::to_string)).collect(),
        })
    }
}

/// Whether a text looks like lines of checks.
pub fn is_one(text: &str) -> bool {
    text.lines().next().is_some_and(|line| Entry::read(line).is_ok())
}

/// The checks of a file, one entry each.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn read(text: &str) -> Result<Vec<Entry>, String> {
    let mut entries = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let entry = Entry::read(line).map_err(|problem| format!("line {}: {problem}", number + 1))?;
        entries.insert(entry.id.clone(), entry);
    }
    Ok(entries.into_values().collect())
}

/// Checks that are one row: those of one test that stand at one place.
struct Row<'a> {
    name: String,
    checks: Vec<&'a Entry>,
}

impl Row<'_> {
    fn ending(&self) -> Ending {
        self.checks.iter().map(|check| check.ending).min().unwrap_or(Ending::Unfinished)
    }

    /// What more there is to say of the worst, and of how many.
    fn why(&self) -> String {
        let ending = self.ending();
        let mut worst = self.checks.iter().filter(|check| check.ending == ending);
        let why = worst.next().map(|check| short(&check.why)).unwrap_or_default();
        let count = 1 + worst.count();
        if count == self.checks.len() {
            return why;
        }
        let of = format!("{count} of {}", self.checks.len());
        if why.is_empty() { of } else { format!("{of}: {why}") }
    }
}

/// The beginning of a text that is too long for a table.
fn short(text: &str) -> String {
    const MOST: usize = 100;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= MOST {
        return line.to_string();
    }
    let kept: String = line.chars().take(MOST).collect();
    format!("{}...", kept.rsplit_once(' ').map_or(kept.as_str(), |(kept, _)| kept))
}

/// The table of some checks, with what they assume below it, and a line that counts them.
pub fn table(entries: &[Entry]) -> String {
    let mut out = String::new();
    // A text that is written to a text.
    let _ = write_table(&mut out, entries);
    out
}

fn write_table(out: &mut String, entries: &[Entry]) -> fmt::Result {
    let mut programs: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    entries.iter().for_each(|entry| programs.entry(&entry.program).or_default().push(entry));
    let several = programs.len() > 1;
    let mut assumptions = Vec::new();
    let mut lines: Vec<[String; 6]> = vec![head()];
    for (program, entries) in &programs {
        if several {
            lines.push(std::array::from_fn(
                |column| {
                    if column == 0 { (*program).to_string() } else { String::new() }
                },
            ));
        }
        for row in rows(entries) {
            lines.push(cells(&row, if several { "  " } else { "" }, &mut assumptions));
        }
    }
    let widths: [usize; 6] = std::array::from_fn(|column| {
        lines
            .iter()
            .map(|line| unicode_width::UnicodeWidthStr::width(line[column].as_str()))
            .max()
            .unwrap_or(0)
    });
    for line in &lines {
        let mut text = String::new();
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            let room = " ".repeat(width.saturating_sub(unicode_width::UnicodeWidthStr::width(cell.as_str())));
            match column {
                2 | 3 => write!(text, "{room}{cell}  ")?,
                _ => write!(text, "{cell}{room}  ")?,
            }
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    if !assumptions.is_empty() {
        writeln!(out, "\nassumed:")?;
        for (index, sentence) in assumptions.iter().enumerate() {
            writeln!(out, "  [{}] {sentence}", index + 1)?;
        }
    }
    writeln!(out, "\n{}", counted(entries))
}

fn head() -> [String; 6] {
    ["check", "verdict", "executions", "time", "assumed", ""].map(String::from)
}

/// The rows of a program, by the names of tests.
fn rows<'a>(entries: &[&'a Entry]) -> Vec<Row<'a>> {
    let mut tests: BTreeMap<Option<&str>, BTreeMap<&str, Vec<&'a Entry>>> = BTreeMap::new();
    for entry in entries {
        let places = tests.entry(entry.test.as_deref()).or_default();
        places.entry(&entry.place).or_default().push(entry);
    }
    let mut rows = Vec::new();
    for (test, places) in tests {
        let several = places.len() > 1;
        for (place, checks) in places {
            let mut name = match test {
                Some(test) if several => format!("{test} ({place})"),
                Some(test) => test.to_string(),
                None => place.to_string(),
            };
            if checks.len() > 1 {
                name.push_str(&format!(" × {}", checks.len()));
            }
            rows.push(Row { name, checks });
        }
    }
    rows
}

/// A row as texts. Its assumptions get numbers: those that they have, or new ones.
fn cells(row: &Row<'_>, indent: &str, known: &mut Vec<String>) -> [String; 6] {
    let mut numbers = BTreeSet::new();
    for sentence in row.checks.iter().flat_map(|check| &check.assumptions) {
        let number = known.iter().position(|other| other == sentence).unwrap_or_else(|| {
            known.push(sentence.clone());
            known.len() - 1
        });
        numbers.insert(number + 1);
    }
    let blocked: u64 = row.checks.iter().map(|check| check.blocked).sum();
    let mut executions = crate::progress::grouped(row.checks.iter().map(|check| check.executions).sum());
    if blocked > 0 {
        executions = format!("{executions} + {} blocked", crate::progress::grouped(blocked));
    }
    [
        format!("{indent}{}", row.name),
        row.ending().word().to_string(),
        executions,
        time(row.checks.iter().map(|check| check.time).sum()),
        ranges(&numbers),
        row.why(),
    ]
}

/// A time, in two digits or more.
fn time(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1e3;
    match millis {
        _ if millis < 9.95 => format!("{millis:.1} ms"),
        _ if millis < 999.5 => format!("{millis:.0} ms"),
        _ => crate::progress::duration(time),
    }
}

/// Numbers in brackets, three or more in a row as a range.
fn ranges(numbers: &BTreeSet<usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let texts = runs.iter().map(|&(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    });
    let text = texts.collect::<Vec<_>>().join(", ");
    if text.is_empty() { text } else { format!("[{text}]") }
}

/// The line that counts the checks.
fn counted(entries: &[Entry]) -> String {
    let plural = if entries.len() == 1 { "" } else { "s" };
    let counts = Ending::ALL.into_iter().rev().filter_map(|ending| {
        let count = entries.iter().filter(|entry| entry.ending == ending).count();
        let word = if count == 1 { ending.word() } else { ending.plural() };
        (count > 0).then(|| format!("{count} {word}"))
    });
    format!("{} check{plural}: {}", entries.len(), counts.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, program: &str, test: &str, ending: Ending, why: &str, assumed: &[&str]) -> Entry {
        let begun = Entry::begun(id.into(), program.into(), Some(test.into()), String::from("src/lib.rs:7"));
        Entry {
            ending,
            why: why.into(),
            executions: 1_234,
            time: Duration::from_micros(1_500),
            assumptions: assumed.iter().map(|text| (*text).to_string()).collect(),
            ..begun
        }
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let one = entry("1", "ring", "tests::a", Ending::Holds, "", &["x \"y\""]);
        let two = Entry::begun("2".into(), "ring".into(), None, "a.rs:1".into());
        let text = format!("{}{}", one.line(), two.line());
        assert!(is_one(&text) && !is_one("{\"version\": 1}"));
        assert_eq!(read(&text), Ok(vec![one.clone(), two.clone()]));
        let later = Entry { ending: Ending::Violated, ..two.clone() };
        assert_eq!(read(&format!("{text}{}", later.line())), Ok(vec![one, later]));
        assert!(read("{}").is_err_and(|problem| problem == "line 1: it is no list of checks"));
    }

    #[test]
    fn a_table_has_a_row_for_each_check() {
        let entries = [
            entry("1", "ring", "tests::push", Ending::Holds, "", &["no load buffering", "other"]),
            entry("2", "ring", "tests::pop", Ending::Violated, "data race", &["other"]),
            entry("3", "ring", "tests::many", Ending::Holds, "", &["a", "b", "c"]),
            entry("4", "ring", "tests::many", Ending::Inconclusive, "the time was up", &["a"]),
        ];
        let expected = "\
check            verdict       executions    time  assumed
tests::many × 2  inconclusive       2,468  3.0 ms  [1-3]    1 of 2: the time was up
tests::pop       violated           1,234  1.5 ms  [4]      data race
tests::push      holds              1,234  1.5 ms  [4, 5]

assumed:
  [1] a
  [2] b
  [3] c
  [4] other
  [5] no load buffering

4 checks: 2 hold, 1 inconclusive, 1 violated
";
        assert_eq!(table(&entries), expected);
    }

    #[test]
    fn several_programs_have_a_heading_each() {
        let mut entries = vec![
            entry("1", "ring", "a", Ending::Holds, "", &[]),
            entry("2", "ring.it", "a", Ending::Error, "not deterministic", &[]),
            entry("3", "ring.it", "a", Ending::Holds, "", &[]),
        ];
        entries[2].place = String::from("src/lib.rs:9");
        let expected = "\
check               verdict  executions    time  assumed
ring
  a                 holds         1,234  1.5 ms
ring.it
  a (src/lib.rs:7)  error         1,234  1.5 ms           not deterministic
  a (src/lib.rs:9)  holds         1,234  1.5 ms

3 checks: 2 hold, 1 error
";
        assert_eq!(table(&entries), expected);
    }
}
