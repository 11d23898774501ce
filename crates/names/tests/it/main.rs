//! Names of compiled programs. The programs print what is to be found: the compiler has the last word.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use unpick_names::{Module, Names, OnStack};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs").join(name)
}

/// Compiles a program; gives its path and what it prints. Tests run at the same time, so each has a program of its own.
fn compiled(compiler: &str, name: &str, options: &[&str]) -> (PathBuf, String) {
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let number = COMPILED.fetch_add(1, Relaxed);
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{number}-{name}-{}", options.join("")));
    let status = Command::new(compiler).args(options).arg(source(name)).arg("-o").arg(&program).status();
    assert!(status.expect("there is a compiler").success(), "{name} {options:?}");
    let output = Command::new(&program).output().expect("the program runs");
    (program, String::from_utf8(output.stdout).expect("it prints text"))
}

fn number(word: &str) -> u64 {
    u64::from_str_radix(word, 16).expect("a number")
}

#[test]
fn variables_have_the_names_that_the_program_gives_them() {
    for options in [
        &["-g", "-O1"][..],
        &["-g", "-O0"],
        &["-g", "-O2"],
        &["-gdwarf-4", "-O1"],
        &["-g", "-O1", "-gz"],
        &["-g", "-no-pie"],
    ] {
        let (program, told) = compiled("c++", "variables.cpp", &[options, &["-std=c++20"]].concat());
        let module = Module::load(&program).expect("it is a program");
        let mut seen = 0;
        for line in told.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let decimal = |index: usize| words[index].parse::<u64>().expect("a number");
            // Programs that are not moved when they are loaded are printed from where they start, and noted from 0.
            let base = if options.contains(&"-no-pie") { 0x40_0000 } else { 0 };
            let place = number(words[1]) + base;
            let (found, expected) = match words[0] {
                "global" => (module.variable(place, decimal(2)), words[3]),
                "local" => {
                    let [frame, stack] = [2, 4].map(|index| words[index].parse().expect("a number"));
                    (module.local(place - 1, OnStack { frame, stack }, decimal(3)), words[5])
                }
                "block" => (module.block(&module.call(place), decimal(2), decimal(3), decimal(4)), words[5]),
                other => panic!("{other}"),
            };
            let found = found.map_or(String::from("?"), |variable| variable.to_string());
            assert_eq!(found, expected, "{options:?}: {line}");
            seen += 1;
        }
        assert_eq!(seen, 24, "{told}");
    }
}

#[test]
fn types_are_told() {
    let (program, told) = compiled("c++", "variables.cpp", &["-g", "-O1", "-std=c++20"]);
    let module = Module::load(&program).expect("it is a program");
    let kind = |name: &str| {
        let line = told.lines().find(|line| line.ends_with(&format!(" {name}"))).expect("it is printed");
        let words: Vec<&str> = line.split(' ').collect();
        module.variable(number(words[1]), words[2].parse().expect("a number")).and_then(|found| found.kind)
    };
    assert_eq!(kind("plain").as_deref(), Some("int"));
    assert_eq!(kind("counter").as_deref(), Some("std::atomic<int>"));
    assert_eq!(kind("table[2]").as_deref(), Some("Node"));
}

#[test]
fn parts_of_variables_and_nothing_are_told_apart() {
    let (program, told) = compiled("c++", "variables.cpp", &["-g", "-O1", "-std=c++20"]);
    let module = Module::load(&program).expect("it is a program");
    let line = told.lines().find(|line| line.ends_with(" plain")).expect("it is printed");
    let place = number(line.split(' ').nth(1).expect("a place"));
    let half = module.variable(place + 2, 2).expect("it is known");
    assert_eq!((half.to_string(), half.offset), (String::from("plain+2"), 2));
    assert_eq!(module.variable(0, 1), None);
    assert_eq!(module.frames(0), []);
}

#[test]
fn instructions_have_the_lines_that_the_compiler_gives_them() {
    for options in [&["-g", "-O0"][..], &["-g", "-O1"], &["-g", "-O2"], &["-gdwarf-4", "-O2"]] {
        let (program, told) = compiled("cc", "places.c", options);
        let names = Names::default();
        let module = names.module(&program).expect("it is a program");
        assert_eq!(told.lines().count(), 4, "{told}");
        for line in told.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            // The instruction ends where it points.
            let frames = module.call(number(words[0]));
            let shown: Vec<(&str, String, bool)> = frames
                .iter()
                .map(|frame| {
                    let line = frame.line.unwrap_or(0).to_string();
                    (frame.function.as_deref().unwrap_or("?"), line, frame.inlined)
                })
                .collect();
            let mut expected = vec![(words[1], words[2].to_string(), words[3] != "-")];
            if words[3] != "-" {
                expected.push((words[3], words[4].to_string(), false));
            }
            assert_eq!(shown, expected, "{options:?}: {line}");
            let file = frames[0].file.as_deref().expect("a file");
            assert_eq!(Path::new(file), source("places.c"));
            let text = module.source(file, frames[0].line.expect("a line")).expect("it can be read");
            assert!(text.starts_with("HERE("), "{text}");
        }
    }
}

#[test]
fn without_notes_there_are_symbols() {
    let (program, told) = compiled("cc", "places.c", &["-O2", "-g0"]);
    let module = Module::load(&program).expect("it is a program");
    let line = told.lines().find(|line| line.contains(" outer ")).expect("it is printed");
    let frames = module.call(number(line.split(' ').next().expect("a place")));
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].function.as_deref(), frames[0].line), (Some("outer"), None));
    assert_eq!(frames[0].to_string(), "outer");
}

#[test]
fn files_that_are_no_programs_are_told() {
    assert!(Module::load(&source("places.c")).expect_err("no program").to_string().contains("is no program"));
    let missing = Module::load(Path::new("no/such/file")).expect_err("no file").to_string();
    assert!(missing.contains("cannot be read"), "{missing}");
}
