//! Each strategy finds what there is, and nothing else.

use super::*;

const STRATEGIES: [&str; 12] = [
    "auto",
    "optimal",
    "source-dpor",
    "dpor-sleep",
    "cb-dpor",
    "random",
    "urw",
    "surw",
    "pct",
    "pos",
    "greybox",
    "digest",
];

/// Programs, and the title of the violation that the one with the bug shows in any order of its threads' steps, or
/// in many.
const PROGRAMS: [(&str, &str); 6] = [
    ("semaphore.c", "data race"),
    ("condition.c", "deadlock"),
    ("spin.c", "livelock"),
    ("futex.c", "deadlock"),
    ("deadlock.c", "deadlock"),
    ("use_after_free.c", "use after free"),
];

#[test]
fn each_strategy_finds_what_there_is() {
    for (name, title) in PROGRAMS {
        let (bad, good) = (compile(name, &["-DBUG", "-DS"]), compile(name, &["-DS"]));
        for strategy in STRATEGIES {
            let settings = [("UNPICK_STRATEGY", strategy), ("UNPICK_MAX_EXECUTIONS", "300")];
            let said = check(&bad, &settings);
            let found = said.finding.map(|finding| finding.title);
            assert_eq!(
                found.as_deref(),
                Some(title),
                "{strategy} on {name}: {:?} {:?}",
                said.verdict,
                said.failed
            );
            let said = check(&good, &settings);
            assert!(
                said.finding.is_none() && said.failed.is_none(),
                "{strategy} on {name}: {:?}",
                said.failed
            );
            let verdict = said.verdict.expect("there is a verdict");
            assert!(verdict.ending != Ending::Violated && verdict.executions > 0, "{strategy} on {name}");
        }
    }
}

#[test]
fn the_model_is_the_one_that_was_asked_for() {
    let program = compile("store_buffering.c", &["-DBUG", &include()]);
    for (model, violated) in [("sc", false), ("tso", true), ("ra", true), ("rc11", true), ("cpp20", true)] {
        let said = check(&program, &[("UNPICK_MODEL", model)]);
        assert_eq!(said.finding.is_some(), violated, "{model}: {:?}", said.failed);
    }
}

#[test]
fn going_on_finds_each_violation_once() {
    let program = compile("several.c", &["-DBUG", &include()]);
    let (messages, count) = (check(&program, &[("UNPICK_KEEP_GOING", "10")]), 2);
    assert_eq!(messages.findings.len(), count, "{:?} {:?}", messages.verdict, messages.failed);
}
