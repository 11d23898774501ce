//! Every bug of the bench is found, every fixed form is clean, and the data say what is true.

use std::sync::LazyLock;
use std::time::Duration;

use unpick::trace::Finding;
use unpick::{Check, Verdict};
use unpick_bugs::table::{self, Measured};
use unpick_bugs::{Bug, Memory, Variant, all};

const DOCS: &str = include_str!("../../../docs/bugs.md");

/// All bugs with the verdicts on both forms.
static MEASURED: LazyLock<Vec<(&Bug, Measured)>> = LazyLock::new(|| all().iter().map(measure).collect());

fn measure(bug: &Bug) -> (&Bug, Measured) {
    match table::measure(bug) {
        Ok(measured) => (bug, measured),
        Err(error) => panic!("{}: {error}", bug.name),
    }
}

fn run(bug: &Bug, variant: Variant, check: &Check) -> Verdict {
    let program = bug.program;
    match check.run(move || program(variant)) {
        Ok(verdict) => verdict,
        Err(error) => panic!("{}: {error}", bug.name),
    }
}

#[test]
fn buggy_forms_are_found_within_their_budgets() {
    for (bug, measured) in MEASURED.iter() {
        let title = measured.buggy.violation().map(|finding| finding.title.as_str());
        let expected = bug.found_within.map(|_| bug.violation);
        assert_eq!(title, expected, "{}: {}", bug.name, measured.buggy);
    }
}

#[test]
fn fixed_forms_hold() {
    for (bug, measured) in MEASURED.iter() {
        if let Some(finding) = measured.fixed.violation() {
            panic!("{}: {}", bug.name, unpick::report::text(finding, &Default::default()));
        }
        assert_eq!(measured.fixed.holds(), bug.exhaustible, "{}: {}", bug.name, measured.fixed);
    }
}

/// Under sequential consistency a bug shows unless it is said to need weak memory.
#[test]
fn bugs_need_the_memory_that_they_are_said_to_need() {
    for bug in all() {
        let Some(budget) = bug.found_within else { continue };
        let check = bug.check().strategy("optimal").model("sc").time_limit(table::TIME);
        match bug.memory {
            Memory::Sc => {
                let verdict = run(bug, Variant::Buggy, &check.max_executions(budget));
                assert!(verdict.violation().is_some(), "{}: {verdict}", bug.name);
            }
            Memory::Weak => {
                let verdict = run(bug, Variant::Buggy, &check);
                assert!(verdict.holds(), "{}: {verdict}", bug.name);
            }
        }
    }
}

/// Runs the execution of a report again.
fn replay(bug: &Bug, finding: &Finding) {
    let token = finding.token.clone();
    let check = bug.check().with(|name| (name == "UNPICK_REPLAY").then(|| token.clone()));
    let verdict = run(bug, Variant::Buggy, &check.expect("the token is one of unpick's"));
    let again = verdict.violation().map(|finding| finding.title.as_str());
    assert_eq!(again, Some(finding.title.as_str()), "{}: {verdict}", bug.name);
    assert_eq!(verdict.summary().model, finding.model, "{}", bug.name);
}

/// A report of each bug can be run again from its token.
#[test]
fn findings_are_replayed() {
    for (bug, measured) in MEASURED.iter() {
        if let Some(finding) = measured.buggy.violation() {
            replay(bug, finding);
        }
    }
}

/// Whoever sets nothing but the time is told of every bug, under the default memory model; if it can show in several ways,
/// of one of them.
#[test]
fn the_default_strategy_finds_every_bug() {
    for bug in all() {
        let verdict = run(bug, Variant::Buggy, &bug.check().time_limit(Duration::from_secs(30)));
        let finding = verdict.violation().unwrap_or_else(|| panic!("{}: {verdict}", bug.name));
        assert_eq!((finding.model.as_str(), verdict.summary().model.as_str()), ("cpp20", "cpp20"));
        replay(bug, finding);
    }
}

#[test]
fn sizes_of_one_program_are_a_family() {
    let family = |name: &str| all().iter().find(|bug| bug.name == name).map(|bug| bug.family());
    for (name, expected) in [
        ("indexer_13", "indexer"),
        ("lost_wakeup", "lost_wakeup"),
        ("spsc_queue", "spsc_queue"),
        ("spsc_queue_wakeup", "spsc_queue"),
        ("treiber_stack_large", "treiber_stack"),
    ] {
        assert_eq!(family(name), Some(expected));
    }
}

#[test]
fn the_data_are_sound() {
    assert!(all().len() >= 24);
    assert!(all().windows(2).all(|pair| pair[0].name < pair[1].name), "names are in order, and differ");
    for bug in all() {
        assert!(bug.threads >= 2, "{}", bug.name);
        assert_eq!(bug.preemptions.is_some(), bug.memory == Memory::Sc, "{}", bug.name);
    }
}

/// The last column depends on the order of the search, and is held to the budget only. How often a loop
/// goes round before it is known to wait depends on how it was compiled, so the executions of fixed
/// forms may differ a little.
#[test]
fn the_table_of_the_docs_is_that_of_the_data() {
    let (_, rows) = DOCS.split_once(table::HEAD).expect("docs/bugs.md has the table");
    let rows: Vec<&str> = rows.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), all().len(), "a row for each bug");
    for ((bug, measured), row) in MEASURED.iter().zip(rows) {
        let expected = table::row(bug);
        let columns = row.strip_prefix(&expected).and_then(|rest| rest.split_once(" |"));
        let (fixed, found) = columns.unwrap_or_else(|| {
            panic!(
                "docs/bugs.md has\n{row}\nand not\n{expected}\n`cargo run -p unpick-bugs` prints the table"
            )
        });
        let told = fixed.strip_prefix(" holds, ").map(|count| count.parse::<u64>().expect("a number"));
        let seen = measured.fixed.holds().then(|| measured.fixed.stats().executions);
        let close = told.zip(seen).is_some_and(|(told, seen)| told <= 2 * seen && seen <= 2 * told);
        assert!(close || (told, seen) == (None, None), "{row}: the fixed form has {seen:?}");
        let executions = found.trim_matches([' ', '|']).parse::<u64>().ok();
        assert_eq!(executions.is_some(), bug.found_within.is_some(), "{row}");
        assert!(executions <= bug.found_within, "{row}");
    }
}
