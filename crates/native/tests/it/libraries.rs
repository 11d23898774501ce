//! Programs with libraries.

use super::*;

/// Compiles a program that uses a library, with or without instrumentation in the library.
fn compile_with_library(instrumented: bool) -> PathBuf {
    let name = if instrumented { "seen" } else { "unseen" };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder for results can be written");
    let source = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library").join(name);
    let flags: &[&str] = if instrumented { &["-fsanitize=thread"] } else { &[] };
    let objects = ["peek", "uses_peek"].map(|name| folder.join(name).with_extension("o"));
    let compile = ["-g", "-O1", "-fPIC", "-c"];
    run(Command::new("gcc").args(compile).args(flags).arg(source("peek.c")).arg("-o").arg(&objects[0]));
    let thread = "-fsanitize=thread";
    run(Command::new("gcc").args(compile).arg(thread).arg(source("uses_peek.c")).arg("-o").arg(&objects[1]));
    run(Command::new("gcc").arg("-shared").arg(&objects[0]).arg("-o").arg(folder.join("libpeek.so")));
    let program = folder.join("program");
    let mut link = Command::new("gcc");
    link.arg(&objects[1]).arg("-o").arg(&program);
    for folder in [library(), folder] {
        link.arg("-L").arg(&folder).arg(format!("-Wl,-rpath,{}", folder.display()));
    }
    run(link.args(["-lunpick_native", "-lpeek", "-pthread"]));
    program
}

#[test]
fn a_library_that_is_not_seen_is_named_where_replay_goes_astray() {
    let said = check(&compile_with_library(false), &[]);
    let problem = said.failed.expect("the program does not do the same again");
    assert!(
        problem.contains("not deterministic") && problem.contains("/libpeek.so` was not compiled"),
        "{problem}"
    );
    let said = check(&compile_with_library(true), &[]);
    assert_eq!(said.titles, ["data race"], "{:?}", said.failed);
}
