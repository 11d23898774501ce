//! What keeps the check apart from the program.

use super::*;

#[test]
fn no_violation_is_lost_by_a_write_that_goes_astray() {
    let program = compile("wild_write.c", &["-DBUG", "-DMORE"]);
    let told = ["auto", "fork"].map(|isolation| {
        let said = check(&program, &[("UNPICK_KEEP_GOING", "10"), ("UNPICK_ISOLATION", isolation)]);
        let mut titles = said.titles();
        titles.sort();
        assert_eq!(titles, ["abort", "crash", "failed assertion"], "{:?} {:?}", said.verdict, said.failed);
        said.verdict.expect("there is a verdict").executions
    });
    assert_eq!(told[0], told[1], "as many executions as if the check had never been hit");
}

#[test]
fn each_way_of_isolation_explores_the_same() {
    for name in ["store_buffering.c", "condition.c", "rwlock.c", "spin.c", "several.c"] {
        let program = compile(name, &["-DI", &include()]);
        let told = ["auto", "restore", "fork"].map(|isolation| {
            let said = check(&program, &[("UNPICK_ISOLATION", isolation)]);
            let verdict = said.verdict.unwrap_or_else(|| panic!("{name} {isolation}: {:?}", said.failed));
            (verdict.ending, verdict.executions, verdict.blocked, verdict.events)
        });
        assert!(told[0] == told[1] && told[1] == told[2], "{name}: {told:?}");
    }
}

#[test]
fn a_process_of_its_own_finds_what_one_for_all_finds() {
    let programs = [("null_pointer.c", "crash"), ("leak.c", "leak"), ("deadlock.c", "deadlock")];
    for (name, title) in programs {
        let program = compile(name, &["-DBUG", "-DI", &include()]);
        let said = check(&program, &[("UNPICK_ISOLATION", "fork")]);
        assert_eq!(said.titles(), [title], "{name}: {:?} {:?}", said.verdict, said.failed);
        let token = said.finding.map(|finding| finding.token).unwrap_or_default();
        for isolation in ["restore", "fork"] {
            let again = check(&program, &[("UNPICK_ISOLATION", isolation), ("UNPICK_REPLAY", &token)]);
            assert_eq!(again.titles(), [title], "{name}: {:?}", again.failed);
        }
    }
}

#[test]
fn threads_that_are_blocked_and_signals_are_found_in_each_way_of_isolation() {
    let include = include();
    let program = compile("crashes.cpp", &["-std=c++20", "-fstack-protector-all", &include, "-DBUG"]);
    let cases = [("blocked", "crash", "the system call `read`"), ("terminated", "crash", "SIGTERM")];
    for (case, title, text) in cases {
        for isolation in ["auto", "restore", "fork"] {
            let settings = [("UNPICK_ISOLATION", isolation), ("UNPICK_HANG", "200ms")];
            let said = check_case(&program, Some(case), &settings);
            assert_eq!(said.titles(), [title], "{case} {isolation}: {:?} {:?}", said.verdict, said.failed);
            let message = said.finding.map(|finding| finding.message.join(" ")).unwrap_or_default();
            assert!(message.contains(text), "{case} {isolation}: {message}");
        }
    }
}

#[test]
fn without_checkpoints_a_worker_that_dies_is_told() {
    let program = compile("wild_write.c", &["-DBUG"]);
    let said = check(&program, &[("UNPICK_ISOLATION", "restore")]);
    let problem = said.failed.expect("nothing is left of the check");
    assert!(problem.contains("has died") && problem.contains("--isolation fork"), "{problem}");
}

#[test]
fn a_check_that_nobody_listens_to_ends() {
    let program = compile("data_race.c", &["-DBUG", "-DL", &include()]);
    for isolation in ["auto", "restore", "fork"] {
        let (messages, channel) = std::io::pipe().expect("there are pipes");
        drop(messages);
        let mut command = Command::new(&program);
        command
            .stdin(channel)
            .env(CHANNEL, "0")
            .env("UNPICK_ISOLATION", isolation)
            .env_remove("LD_LIBRARY_PATH");
        let status = command.status().expect("the program can be started");
        assert!(!status.success(), "{isolation}");
    }
}
