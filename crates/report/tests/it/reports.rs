//! Text and JSON of the hand-made findings.

use insta::assert_snapshot;
use unpick_core::trace::Finding;
use unpick_report::{TextOptions, json, read, text};

use crate::findings;

const WIDTHS: [usize; 3] = [100, 80, 60];

fn at_width(finding: &Finding, width: usize) -> String {
    text(finding, &TextOptions { width, ..TextOptions::default() })
}

fn check(name: &str, finding: &Finding) {
    for width in WIDTHS {
        assert_snapshot!(format!("{name}_{width}"), at_width(finding, width));
    }
}

#[test]
fn message_passing() {
    check("message_passing", &findings::message_passing());
}

#[test]
fn data_race() {
    check("data_race", &findings::data_race());
}

#[test]
fn deadlock() {
    check("deadlock", &findings::deadlock());
}

#[test]
fn livelock() {
    check("livelock", &findings::livelock());
}

#[test]
fn everything_as_json() {
    assert_snapshot!("message_passing_json", format!("{:#}", json(&findings::message_passing())));
    assert_snapshot!("data_race_json", format!("{:#}", json(&findings::data_race())));
}

#[test]
fn frames_of_the_runtime_are_shown_on_demand() {
    let options = TextOptions { runtime_frames: true, ..TextOptions::default() };
    let report = text(&findings::data_race(), &options);
    assert!(report.contains("  at unpick::cell::UnsafeCell<T>::with (/home/me/unpick/src/cell.rs:88)\n"));
    assert!(!report.contains("not shown"));
}

#[test]
fn lines_stay_within_the_width() {
    for finding in all() {
        for width in 0..140 {
            let report = at_width(&finding, width);
            let long = report.lines().find(|line| {
                // What cannot be broken: paths, names of functions, and what is to be pasted.
                let whole =
                    ["replay:", "  at ", "     (", "model:"].iter().any(|start| line.starts_with(start));
                line.chars().count() > width && !whole && !line.contains("-->")
            });
            // A single operation can be wider than the narrowest of screens.
            assert!(long.is_none() || width < 60, "{width}: {long:?}\n{report}");
        }
    }
}

#[test]
fn colour_only_repeats_what_the_text_says() {
    for finding in all() {
        for width in WIDTHS {
            let coloured = text(&finding, &TextOptions { colour: true, width, ..TextOptions::default() });
            assert!(coloured.contains("\x1b["));
            assert_eq!(without_colour(&coloured), at_width(&finding, width));
        }
    }
}

fn all() -> [Finding; 4] {
    [findings::message_passing(), findings::data_race(), findings::deadlock(), findings::livelock()]
}

/// The text without ANSI escapes, and without the blanks that they hide at the ends of lines.
fn without_colour(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').expect("every escape is a colour").1);
    }
    plain.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn what_was_written_is_read() {
    for finding in all() {
        assert_eq!(read(json(&finding)).as_ref(), Ok(&finding));
        // As a file has it.
        let text = json(&finding).to_string();
        assert_eq!(read(text.parse().expect("JSON")).as_ref(), Ok(&finding));
    }
}

#[test]
fn what_is_no_report_is_refused() {
    let refused = |change: &dyn Fn(&mut serde_json::Value), problem: &str| {
        let mut report = json(&findings::message_passing());
        change(&mut report);
        let error = read(report).expect_err(problem);
        assert!(error.contains(problem), "{error}");
    };
    refused(&|report| report["version"] = 7.into(), "version 7");
    refused(&|report| report["version"] = ().into(), "no version");
    refused(&|report| report["steps"][0]["action"] = ().into(), "null");
    refused(&|report| report["steps"][0]["thread"] = 99.into(), "a thread that is not in it");
    refused(&|report| report["objects"] = Vec::<u8>::new().into(), "an object that is not in it");
    refused(&|report| report["steps"][0]["action"]["type"] = "dances".into(), "dances");
}

/// All names of fields in a value, and of the types of actions.
fn names(value: &serde_json::Value, found: &mut Vec<String>) {
    for value in value.as_array().into_iter().flatten() {
        names(value, found);
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        found.push(name.clone());
        found.extend(value.as_str().filter(|_| name == "type").map(str::to_string));
        names(value, found);
    }
}

#[test]
fn each_field_is_described() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let mut found = Vec::new();
    all().iter().for_each(|finding| names(&json(finding), &mut found));
    found.retain(|name| ![format!("`{name}`"), format!("\"{name}\"")].iter().any(|told| page.contains(told)));
    assert!(found.is_empty(), "docs/json.md does not describe {found:?}");
}
