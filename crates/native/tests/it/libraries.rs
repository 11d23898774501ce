//! Libraries of the program: what they do before `main` and after it is part of each execution.

use super::*;

/// Builds the library `worker` and a program that uses it. A `foreign` library is built without the instrumentation.
fn build(variant: &str, flags: &[&str], foreign: bool) -> PathBuf {
    build_both(["worker.cpp", "program.cpp"], variant, flags, foreign)
}

/// Builds a library and a program that uses it.
fn build_both(sources_of: [&str; 2], variant: &str, flags: &[&str], foreign: bool) -> PathBuf {
    let [library_source, program_source] = sources_of;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libraries-{variant}"));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libraries");
    let runtime = library();
    let paths = |command: &mut Command| {
        for path in [&runtime, &folder] {
            command.arg("-L").arg(path).arg(format!("-Wl,-rpath,{}", path.display()));
        }
    };
    let (object, program_object) = (folder.join("worker.o"), folder.join("program.o"));
    for (source, object) in [(library_source, &object), (program_source, &program_object)] {
        let mut command = Command::new(if source.ends_with(".cpp") { "g++" } else { "gcc" });
        command
            .args(["-g", "-O1", "-fPIC", "-c"])
            .args(flags)
            .arg(sources.join(source))
            .arg("-o")
            .arg(object);
        if source == program_source || !foreign {
            command.args(["-fsanitize=thread", "-Wno-tsan"]);
        }
        run(&mut command);
    }
    let mut link = Command::new("g++");
    link.args(["-shared", "-o"]).arg(folder.join("libworker.so")).arg(&object);
    if !foreign {
        paths(&mut link);
        link.arg("-lunpick_native");
    }
    run(&mut link);
    let program = folder.join("program");
    let mut link = Command::new("g++");
    paths(link.arg(&program_object).arg("-o").arg(&program));
    run(link.args(["-lunpick_native", "-lworker", "-pthread"]));
    program
}

#[test]
fn threads_that_a_library_starts_are_controlled() {
    let said = check(&build("fixed", &[], false), &[]);
    let verdict = said.verdict.expect("there is a verdict");
    assert_eq!((verdict.ending, verdict.executions), (Ending::Holds, 6), "{:?}", said.finding);
}

#[test]
fn races_with_a_thread_of_a_library_are_found() {
    let program = build("bug", &["-DBUG"], false);
    let finding = check(&program, &[]).finding.expect("there is a race");
    assert_eq!(finding.title, "data race");
    let again = check(&program, &[("UNPICK_REPLAY", &finding.token)]);
    assert_eq!(again.finding.map(|finding| finding.title).as_deref(), Some("data race"));
}

#[test]
fn a_foreign_library_is_made_ready_once() {
    let said = check(&build("foreign", &["-DNO_THREAD"], true), &[]);
    let verdict = said.verdict.expect("there is a verdict");
    assert_eq!((verdict.ending, verdict.executions), (Ending::Holds, 1), "{:?}", said.finding);
}

#[test]
fn a_file_that_was_open_stands_where_it_stood() {
    let sources = ["reader.c", "reads.c"];
    let include = include();
    for isolation in ["auto", "restore", "fork"] {
        let program = build_both(sources, "reader", &[&include], true);
        let said = check(&program, &[("UNPICK_ISOLATION", isolation)]);
        let verdict = said.verdict.expect("there is a verdict");
        assert_eq!((verdict.ending, verdict.executions), (Ending::Holds, 5), "{:?}", said.finding);
    }
    let said = check(&build_both(sources, "reader-bug", &[&include, "-DBUG"], true), &[]);
    assert_eq!(said.finding.map(|finding| finding.title).as_deref(), Some("failed assertion"));
}

#[test]
fn a_foreign_library_that_starts_a_thread_is_named() {
    let problem = check(&build("refused", &[], true), &[]).failed.expect("it is refused");
    assert!(problem.contains("libworker.so") && problem.contains("unpick c++"), "{problem}");
}

#[test]
fn a_library_that_is_not_seen_is_named_where_replay_goes_astray() {
    let sources = ["peek.c", "uses_peek.c"];
    let said = check(&build_both(sources, "unseen", &[], true), &[]);
    let problem = said.failed.expect("the program does not do the same again");
    assert!(
        problem.contains("not deterministic") && problem.contains("/libworker.so` was not compiled"),
        "{problem}"
    );
    let said = check(&build_both(sources, "seen", &[], false), &[]);
    assert_eq!(said.titles(), ["data race"], "{:?}", said.failed);
}
