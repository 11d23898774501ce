//! A program that nobody checks is an ordinary one.

use super::programs::Head;
use super::*;

#[test]
fn a_program_that_is_not_checked_does_what_it_always_does() {
    let program = compile("ordinary.cpp", &["-std=c++20", "-DORDINARY"]);
    for _ in 0..3 {
        let output = Command::new(&program)
            .arg("five")
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .expect("it can be started");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "4000 five\ndestroyed\n");
        assert_eq!(text(&output.stderr), "");
    }
}

/// Programs that are right only in a check, where time and chance are made up.
const MADE_UP: [&str; 5] = ["clocks.c", "clock_jumps.c", "random.c", "random_choices.c", "random_device.cpp"];

#[test]
fn fixed_programs_run_as_ordinary_ones() {
    let compiler = &compilers()[0];
    let include = include();
    for name in sources().iter().filter(|name| !MADE_UP.contains(&name.as_str())) {
        let head = Head::of(name);
        let flags: Vec<&str> = head.flags.iter().map(String::as_str).chain([include.as_str()]).collect();
        for case in head.fixed().filter(|_| head.fits(compiler)) {
            let program = compile_with(compiler, name, &flags);
            let output = Command::new(&program).args(case).env_remove("LD_LIBRARY_PATH").output();
            let output = output.expect("it can be started");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name} {case:?}: {} {said}", output.status);
        }
    }
}
