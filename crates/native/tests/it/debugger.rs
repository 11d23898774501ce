//! One execution for a debugger.

use unpick_native_wire::DEBUGGER;

use super::*;

#[test]
fn an_execution_stops_at_its_violation_and_shows_its_output() {
    let program = compile("data_race.c", &["-DBUG", "-DD", &include()]);
    let token = check(&program, &[]).finding.expect("there is a race").token;
    let run = |token: &str| {
        let mut command = Command::new(&program);
        command.env(CHANNEL, DEBUGGER).env("UNPICK_REPLAY", token).env_remove("LD_LIBRARY_PATH");
        let output = command.output().expect("the program can be started");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&token);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("unpick: data race in "), "{said}");
    let (_, said) = run("u1x");
    assert!(said.starts_with("unpick: the schedule cannot be replayed"), "{said}");
}
