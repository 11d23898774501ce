//! The failing execution as a table: a column a thread, a column for the site.
//!
//! A column is as wide as its widest row if all of them fit; else results and remarks move to lines
//! of their own, and texts are broken. When even that does not fit, long sites are cut; and if it
//! still does not, there is no table, see [`list`](super::list).

use super::paint::Paint;
use super::rows::{Row, Rows, head_cut};
use super::wrap::{pad, width, wrap};

/// Columns that a text of the program may ask for at most, and those that it needs at least.
const PROSE: std::ops::RangeInclusive<usize> = 20..=36;
/// Indentation of what does not fit the first line of a row.
const HANG: usize = 2;

/// Columns that a site may take, and those that a remark may insist on; the most generous try first.
const TRIES: [(usize, usize); 3] = [(24, 36), (16, 36), (16, 20)];

/// The table, or `None` when it is wider than the screen.
pub(super) fn table(rows: &Rows, columns: usize, paint: Paint) -> Option<Vec<String>> {
    TRIES.iter().find_map(|&(site, remark)| {
        let shape = shape(rows, columns, site, remark)?;
        Some(draw(rows, &shape, paint))
    })
}

/// Widths of the columns.
struct Shape {
    numbers: usize,
    threads: Vec<usize>,
    /// Zero when no step has a site.
    sites: usize,
}

fn shape(rows: &Rows, columns: usize, site: usize, remark: usize) -> Option<Shape> {
    let numbers = widest(rows.rows.iter().map(|r| r.number.as_str()).chain(["#"]));
    let sites = match widest(rows.rows.iter().map(|r| r.site.as_str())) {
        0 => 0,
        widest => widest.clamp("site".len(), site),
    };
    let frame = 2 + numbers + 3 * rows.names.len() + if sites > 0 { 3 + sites } else { 0 };
    Some(Shape { numbers, threads: share(rows, columns.checked_sub(frame)?, remark)?, sites })
}

fn draw(rows: &Rows, shape: &Shape, paint: Paint) -> Vec<String> {
    let Shape { numbers, threads: widths, sites } = shape;
    let (numbers, sites) = (*numbers, *sites);
    let line = |mark: &str, number: &str, cells: &[String], site: &str, strong: bool| {
        let number = format!("{}{number}", " ".repeat(numbers - width(number)));
        let mut out =
            if strong { paint.strong(&format!("{mark} {number}")) } else { format!("{mark} {number}") };
        for (cell, width) in cells.iter().zip(widths) {
            let cell = pad(cell, *width);
            out.push_str(" | ");
            out.push_str(&if strong { paint.strong(&cell) } else { cell });
        }
        if sites > 0 {
            out.push_str(" | ");
            out.push_str(&paint.faint(&head_cut(site, sites)));
        }
        out
    };
    let mut out = vec![line(" ", "#", &rows.names, "site", false)];
    let mut dashes = vec!["-".repeat(numbers + 2)];
    dashes.extend(widths.iter().chain((sites > 0).then_some(&sites)).map(|w| "-".repeat(*w)));
    out.push(dashes.join("-+-"));
    for row in &rows.rows {
        let lines: Vec<Vec<String>> = (0..widths.len())
            .map(|t| if row.threads.contains(&t) { cell(row, widths[t]) } else { Vec::new() })
            .collect();
        let height = lines.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for i in 0..height {
            let cells: Vec<String> = lines.iter().map(|l| l.get(i).cloned().unwrap_or_default()).collect();
            let (mark, number, site) = if i > 0 {
                ("", "", "")
            } else {
                (if row.deciding { ">" } else { "" }, row.number.as_str(), row.site.as_str())
            };
            out.push(line(&pad(mark, 1), number, &cells, site, row.deciding));
        }
    }
    out
}

/// The lines of a row in a column of this width.
pub(super) fn cell(row: &Row, columns: usize) -> Vec<String> {
    let whole = whole(row);
    if width(&whole) <= columns {
        return vec![whole];
    }
    let op = op_and_result(row);
    let wording = &row.wording;
    let (mut out, own_line) = match wording.prose {
        true => (wrap(&op, columns, 0, HANG), None),
        false if width(&op) <= columns => (vec![op], None),
        false => (vec![wording.op.clone()], Some(&wording.result)),
    };
    // Remarks share a line as long as they fit.
    let mut line = String::new();
    for detail in own_line.into_iter().filter(|r| !r.is_empty()).chain(&wording.details) {
        if !line.is_empty() && HANG + width(&line) + 2 + width(detail) <= columns {
            line = format!("{line}, {detail}");
        } else {
            out.extend(wrap(&line, columns, HANG, HANG));
            line.clone_from(detail);
        }
    }
    out.extend(wrap(&line, columns, HANG, HANG));
    out
}

fn op_and_result(row: &Row) -> String {
    format!("{} {}", row.wording.op, row.wording.result).trim_end().to_owned()
}

/// Operation, result and remarks on one line.
fn whole(row: &Row) -> String {
    std::iter::once(op_and_result(row))
        .chain(row.wording.details.iter().cloned())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The widths of the threads' columns, which together take no more than `room`.
fn share(rows: &Rows, room: usize, remark: usize) -> Option<Vec<usize>> {
    let (mut least, mut wanted): (Vec<usize>, Vec<usize>) =
        rows.names.iter().map(|name| (width(name), width(name))).unzip();
    for row in &rows.rows {
        let (l, w) = demand(row, remark);
        for &thread in &row.threads {
            least[thread] = least[thread].max(l);
            wanted[thread] = wanted[thread].max(w);
        }
    }
    let mut left = room.checked_sub(least.iter().sum())?;
    // The rest goes where it is wanted, a column of the screen at a time.
    while left > 0 {
        let hungry: Vec<usize> = (0..least.len()).filter(|t| least[*t] < wanted[*t]).take(left).collect();
        if hungry.is_empty() {
            break;
        }
        left -= hungry.len();
        hungry.into_iter().for_each(|t| least[t] += 1);
    }
    Some(least)
}

/// The least width that a row can do with, and the one that it would like.
fn demand(row: &Row, remark: usize) -> (usize, usize) {
    let (op, all) = (width(&row.wording.op), width(&whole(row)));
    if row.wording.prose {
        return (op.min(*PROSE.start()), all.min(*PROSE.end()));
    }
    let details = row.wording.details.iter().chain([&row.wording.result]);
    let detail = details.map(|d| HANG + width(d)).max().unwrap_or(0);
    (op.max(detail.min(remark)), all)
}

/// The width of the widest text.
pub(super) fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(width).max().unwrap_or(0)
}
