//! Violations that are known: a file that names them, in the form that thread sanitizers read.
//!
//! Each line is `kind:pattern`; a line that begins with `#` is a remark. The pattern is looked for in the names of
//! functions, source files, modules and variables; `*` stands for anything, `^` for the beginning and `$` for the end.

use std::path::{Path, PathBuf};

use unpick_native_wire::{Answer, Question};

use super::naming::Naming;
use crate::error::Error;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Two accesses that are not ordered.
    Race,
    /// The same, where the pattern names the function itself, and not one that has called it.
    RaceTop,
    Deadlock,
    Leak,
    /// What other tools tell, and this one does not.
    Foreign,
}

impl Kind {
    fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "race" => Kind::Race,
            "race_top" => Kind::RaceTop,
            "deadlock" => Kind::Deadlock,
            "leak" => Kind::Leak,
            "thread" | "mutex" | "signal" | "called_from_lib" => Kind::Foreign,
            _ => return None,
        })
    }

    fn covers(self, kind: &str) -> bool {
        match self {
            Kind::Race | Kind::RaceTop => kind == "race",
            Kind::Deadlock => kind == "deadlock",
            Kind::Leak => kind == "leak",
            Kind::Foreign => false,
        }
    }
}

#[derive(Debug)]
struct Line {
    number: usize,
    text: String,
    kind: Kind,
    pattern: String,
    /// How many violations it has covered.
    used: usize,
}

/// A file with known violations.
#[derive(Debug, Default)]
pub(super) struct Suppressions {
    path: PathBuf,
    lines: Vec<Line>,
}

impl Suppressions {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Suppressions, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|problem| Error::Unreadable { path: path.to_path_buf(), problem })?;
        Suppressions::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Suppressions, Error> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let number = index + 1;
            let wrong =
                |problem: String| Error::Suppression { path: path.to_path_buf(), line: number, problem };
            let (name, pattern) =
                line.split_once(':').ok_or_else(|| wrong(format!("`{line}` has no `:` after its kind")))?;
            let kind =
                Kind::named(name.trim()).ok_or_else(|| wrong(format!("`{name}` is no kind of violation")))?;
            let pattern = pattern.trim();
            if pattern.trim_matches(['^', '$']).is_empty() {
                return Err(wrong(format!("`{line}` has no pattern")));
            }
            lines.push(Line { number, text: line.to_string(), kind, pattern: pattern.to_string(), used: 0 });
        }
        Ok(Suppressions { path: path.to_path_buf(), lines })
    }

    /// Whether a violation is known; if so, that is counted.
    pub(super) fn answer(&mut self, question: &Question, naming: &Naming) -> Answer {
        let mut own: Vec<String> = question.places.iter().flat_map(|&code| naming.all_names(code)).collect();
        own.extend(question.object.iter().map(|object| naming.object(object)));
        let callers: Vec<String> =
            question.stacks.iter().flatten().flat_map(|&code| naming.all_names(code)).collect();
        let any = |names: &[String], pattern: &str| names.iter().any(|name| matches(pattern, name));
        let fitting = || (0..self.lines.len()).filter(|&index| self.lines[index].kind.covers(&question.kind));
        let by_place = fitting().find(|&index| any(&own, &self.lines[index].pattern));
        let by_caller = || {
            let mut lines = fitting().filter(|&index| self.lines[index].kind != Kind::RaceTop);
            lines.find(|&index| any(&callers, &self.lines[index].pattern))
        };
        let (index, answer) = match by_place {
            Some(index) => (index, Answer::ByPlace),
            None => match by_caller() {
                Some(index) => (index, Answer::ByCaller),
                None => return Answer::New,
            },
        };
        self.lines[index].used += 1;
        answer
    }

    /// What was passed over, and which lines were of no use.
    pub(super) fn told(&self) -> String {
        let mut told = String::new();
        let path = self.path.display();
        for Line { number, text, used, .. } in self.lines.iter().filter(|line| line.used > 0) {
            let plural = if *used == 1 { "" } else { "s" };
            told.push_str(&format!("passed over: {used} violation{plural} by `{text}`, {path}:{number}\n"));
        }
        let unused = self.lines.iter().filter(|line| line.used == 0 && line.kind != Kind::Foreign);
        for Line { number, text, .. } in unused {
            told.push_str(&format!("of no use: `{text}`, {path}:{number}\n"));
        }
        told
    }
}

/// Whether a pattern occurs in a name.
fn matches(pattern: &str, name: &str) -> bool {
    let from_start = pattern.starts_with('^');
    let to_end = pattern.ends_with('$');
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let mut rest = name;
    let parts: Vec<&str> = pattern.split('*').collect();
    for (index, part) in parts.iter().enumerate() {
        let (first, last) = (index == 0, index + 1 == parts.len());
        if first && from_start && last && to_end {
            return rest == *part;
        }
        if last && to_end {
            return rest.ends_with(part);
        }
        let found = if first && from_start { rest.starts_with(part).then_some(0) } else { rest.find(part) };
        let Some(at) = found else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_occur_in_names() {
        let yes = [
            ("foo", "a_foo_b"),
            ("^foo", "foobar"),
            ("bar$", "foobar"),
            ("f*r", "xfoobary"),
            ("^f*r$", "foobar"),
        ];
        let no =
            [("foo", "fo"), ("^foo", "afoo"), ("bar$", "barf"), ("^f*r$", "foobarf"), ("^foo$", "foobar")];
        assert!(yes.iter().all(|(pattern, name)| matches(pattern, name)));
        assert!(no.iter().all(|(pattern, name)| !matches(pattern, name)));
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let path = Path::new("known");
        let text = "# remark\n\nrace:foo\nmutex:x\nrace_top:^bar$\n";
        assert_eq!(Suppressions::parse(path, text).map(|known| known.lines.len()).ok(), Some(3));
        for (text, number) in [("race:a\nfoo", 2), ("\n\nmice:foo", 3), ("race:", 1), ("leak:^$", 1)] {
            let error = Suppressions::parse(path, text).expect_err("it is wrong").to_string();
            assert!(error.contains(&format!("known:{number}:")), "{error}");
        }
    }
}
