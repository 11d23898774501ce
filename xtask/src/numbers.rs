//! Numbers and tables for reading.

/// A number with as many digits as are worth reading.
pub(crate) fn short(number: f64) -> String {
    match number.abs() {
        n if n >= 100.0 => grouped(number.round() as u64),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 1.0 || n == 0.0 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

/// A whole number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Seconds in a unit that fits.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.001 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// The geometric mean, if there is anything to take it of.
pub(crate) fn geometric_mean(numbers: &[f64]) -> Option<f64> {
    let sum: f64 = numbers.iter().map(|number| number.ln()).sum();
    (!numbers.is_empty()).then(|| (sum / numbers.len() as f64).exp())
}

/// A table: the first row is its head, the first column is aligned to the left, the others to the
/// right.
pub(crate) fn table(rows: &[Vec<String>], markdown: bool) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max())
        .map(|width| width.unwrap_or(0).max(3))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let cells: Vec<String> = cells.collect();
        if markdown { format!("| {} |", cells.join(" | ")) } else { cells.join("  ") }
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if markdown && !lines.is_empty() {
        let rules = widths.iter().enumerate().map(|(column, &width)| match column {
            0 => "-".repeat(width),
            _ => format!("{}:", "-".repeat(width - 1)),
        });
        lines.insert(1, format!("| {} |", rules.collect::<Vec<_>>().join(" | ")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.01234, 1.234, 12.34, 1234.5].map(short).join(" "), "0.00 0.0123 1.23 12.3 1,235");
        assert_eq!([0.000_012, 0.012, 1.2].map(seconds).join(" "), "12 us 12.00 ms 1.20 s");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn means_are_geometric() {
        assert!((geometric_mean(&[1.0, 100.0]).unwrap_or_default() - 10.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn tables_are_aligned() {
        let rows =
            [vec![String::from("test"), String::from("n")], vec![String::from("a"), String::from("12")]];
        assert_eq!(table(&rows, false), "test    n\na      12");
        assert_eq!(table(&rows, true), "| test |   n |\n| ---- | --: |\n| a    |  12 |");
    }
}
