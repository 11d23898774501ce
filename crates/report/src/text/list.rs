//! The failing execution as a list: each step under the name of its thread.
//!
//! For screens too narrow, or programs with too many threads, for a [`table`](super::table). Steps
//! come with as few changes of thread as possible, so the names do not repeat more than needed.

use super::paint::Paint;
use super::rows::{Rows, head_cut};
use super::table::{cell, widest};
use super::wrap::{pad, width};

/// Columns that a step should have even when that pushes its site to the next line.
const LEAST: usize = 24;

/// The list.
pub(super) fn list(rows: &Rows, columns: usize, paint: Paint) -> Vec<String> {
    let numbers = widest(rows.rows.iter().map(|r| r.number.as_str()));
    let sites = widest(rows.rows.iter().map(|r| r.site.as_str())).min((columns / 4).clamp(16, 24));
    // A mark, the number, two blanks; then the step, two blanks and the site.
    let indent = 4 + numbers + 2;
    let room = columns.saturating_sub(indent + if sites > 0 { 2 + sites } else { 0 }).max(LEAST);
    let wide = columns.saturating_sub(indent).max(LEAST);

    let mut out = Vec::new();
    let mut current: &[usize] = &[];
    for row in &rows.rows {
        if row.threads != current {
            let names: Vec<&str> = row.threads.iter().map(|t| rows.names[*t].as_str()).collect();
            out.push(format!("{}:", names.join(", ")));
            current = &row.threads;
        }
        let site = head_cut(&row.site, sites);
        let mark = if row.deciding { ">" } else { " " };
        let number = format!("{}{}", " ".repeat(numbers - width(&row.number)), row.number);
        let mut lines = cell(row, room);
        let first = lines.remove(0);
        let step = if site.is_empty() { first } else { pad(&first, room) };
        let fits = site.is_empty() || width(&step) + 2 + width(&site) <= wide;
        let paint_step = |text: &str| if row.deciding { paint.strong(text) } else { text.to_owned() };
        let head = paint_step(&format!("  {mark} {number}  {step}"));
        let margin = " ".repeat(indent);
        match fits {
            true => out.push(format!("{head}  {}", paint.faint(&site))),
            false => out.extend([head, format!("{margin}  {}", paint.faint(&format!("at {site}")))]),
        }
        out.extend(lines.iter().map(|line| paint_step(&format!("{margin}{line}"))));
    }
    out
}
