//! The guide has the table of settings word for word.
//!
//! After a change of the table, `INSTA_UPDATE=always cargo test -p unpick-settings` writes the rows, as it does snapshots.

use unpick_settings::Setting;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");

/// The guide with the rows that the table asks for: those for programs in Rust first.
fn with_rows(guide: &str) -> String {
    let mut tables = [true, false].into_iter();
    let mut lines: Vec<String> = Vec::new();
    let mut in_table = false;
    for line in guide.lines() {
        let is_row = line.starts_with("| `UNPICK_");
        if is_row && !in_table {
            lines.extend(Setting::rows(tables.next().expect("the guide has two tables of settings")));
        }
        if !is_row {
            lines.push(line.to_string());
        }
        in_table = is_row;
    }
    assert_eq!(tables.next(), None, "the guide has two tables of settings");
    lines.join("\n") + "\n"
}

#[test]
fn the_guide_has_every_setting() {
    let guide = std::fs::read_to_string(GUIDE).expect("the guide is there");
    let wanted = with_rows(&guide);
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        return std::fs::write(GUIDE, wanted).expect("the guide can be written");
    }
    let missing: Vec<&str> = wanted.lines().filter(|line| !guide.lines().any(|has| has == *line)).collect();
    assert!(missing.is_empty(), "docs/guide.md should have these rows:\n{}", missing.join("\n"));
    assert_eq!(guide, wanted, "docs/guide.md has rows that are no settings, or has them in another order");
}
