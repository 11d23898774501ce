//! Tables as text, Markdown, CSV and JSON.

use std::fmt::Write;

use serde_json::{Value, json};

/// A table: the first column names the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

/// How to write tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Columns in line, for a terminal.
    Text,
    /// Markdown.
    Markdown,
    /// Values between commas; a line that starts with `#` before each table.
    Csv,
}

impl Table {
    /// A table without rows.
    pub fn new(title: &str, note: &str, columns: impl IntoIterator<Item = impl Into<String>>) -> Table {
        let columns = columns.into_iter().map(Into::into).collect();
        Table { title: title.to_string(), note: note.to_string(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.columns.len(), "a row is as long as the names of its columns");
        self.rows.push(row);
    }

    /// The table, written.
    pub fn written(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Markdown => self.markdown(),
            Format::Csv => self.csv(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.columns).chain(&self.rows)
    }

    fn text(&self) -> String {
        let width = |column: usize| self.lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut out = format!("{}\n", self.title);
        for line in self.lines() {
            let mut words = String::new();
            for (index, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let room = width - cell.chars().count();
                let (before, after) = if index == 0 { (0, room) } else { (room, 0) };
                let gap = if index == 0 { "" } else { "  " };
                push(&mut words, format_args!("{gap}{:before$}{cell}{:after$}", "", ""));
            }
            push(&mut out, format_args!("{}\n", words.trim_end()));
        }
        push(&mut out, format_args!("{}\n", self.note));
        out
    }

    fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n{}\n\n", self.title, self.note);
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        out += &line(&self.columns);
        out += &format!("|---|{}\n", "---:|".repeat(self.columns.len().saturating_sub(1)));
        self.rows.iter().for_each(|row| out += &line(row));
        out
    }

    fn csv(&self) -> String {
        let mut out = format!("# {}\n", self.title);
        for line in self.lines() {
            let cells: Vec<String> = line.iter().map(|cell| quoted(cell)).collect();
            push(&mut out, format_args!("{}\n", cells.join(",")));
        }
        out
    }

    /// The table as JSON.
    pub fn to_json(&self) -> Value {
        json!({"title": self.title, "note": self.note, "columns": self.columns, "rows": self.rows})
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

/// A value of CSV.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

/// A time for people: three digits.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 0.01 => format!("{:.2} ms", s * 1e3),
        s if s < 0.1 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s => format!("{s:.1} s"),
    }
}

/// A number for people: no more digits than it takes.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("Things", "In pairs.", ["name", "a, b"]);
        table.row(["one|two", "3"]);
        table.row(["three", "a \"4\""]);
        table
    }

    #[test]
    fn columns_are_in_line() {
        let expected = "Things\nname      a, b\none|two      3\nthree    a \"4\"\nIn pairs.\n";
        assert_eq!(table().written(Format::Text), expected);
    }

    #[test]
    fn nothing_breaks_out_of_its_cell() {
        let markdown = table().written(Format::Markdown);
        assert!(markdown.contains("| one\\|two | 3 |\n"), "{markdown}");
        assert!(markdown.contains("\n| name | a, b |\n|---|---:|\n"), "{markdown}");
        let csv = "# Things\nname,\"a, b\"\none|two,3\nthree,\"a \"\"4\"\"\"\n";
        assert_eq!(table().written(Format::Csv), csv);
        assert_eq!(table().to_json()["rows"][1][1], "a \"4\"");
    }

    #[test]
    fn numbers_are_short() {
        let times = [0.000_04, 0.001_234, 0.0123, 0.123, 1.234, 12.34].map(time);
        assert_eq!(times, ["40 µs", "1.23 ms", "12.3 ms", "123 ms", "1.23 s", "12.3 s"]);
        assert_eq!([1.0, 1.5, 123.4].map(number), ["1", "1.50", "123"]);
    }
}
