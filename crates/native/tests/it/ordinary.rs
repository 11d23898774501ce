//! A program that nobody checks is an ordinary one.

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
