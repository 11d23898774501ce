//! Each function that the runtime stands in for is used by a program of `tests/c`, and each kind of violation is shown by one.

use std::collections::BTreeSet;

use object::{Object, ObjectSymbol};

use super::programs::Head;
use super::*;

/// The names that a program or a library has for others to use, or those that it uses of others.
fn symbols(path: &Path, defined: bool) -> BTreeSet<String> {
    let bytes = std::fs::read(path).expect("the file is there");
    let file = object::File::parse(&*bytes).expect("it is an object file");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_undefined() != defined);
    let names = symbols.filter_map(|symbol| symbol.name().ok().map(str::to_string));
    names.filter(|name| !name.is_empty()).collect()
}

/// There are no exceptions: what no program uses needs a program, or is not needed.
#[test]
fn each_function_of_the_runtime_is_used_by_a_program() {
    let compiler = &compilers()[0];
    let exported = symbols(&library().join("libunpick_native.so"), true);
    assert!(exported.contains("pthread_mutex_lock"), "the runtime exports something");
    let mut used = BTreeSet::new();
    for name in sources() {
        let head = Head::of(&name);
        let include = include();
        let flags: Vec<&str> = head.flags.iter().map(String::as_str).chain([include.as_str()]).collect();
        for more in [&[][..], &["-DBUG"]] {
            used.extend(symbols(&compile_with(compiler, &name, &[&flags[..], more].concat()), false));
        }
    }
    // The linker's marks of the list of entries are no functions.
    let mark = |name: &&String| name.starts_with("__start_") || name.starts_with("__stop_");
    let unused: Vec<&String> = exported.difference(&used).filter(|name| !mark(name)).collect();
    assert!(unused.is_empty(), "no program uses {unused:?}");
}

/// The names of the kinds of violations, and their titles, as the engine's source lists them.
fn kinds() -> Vec<(String, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(own.join("../core/src/violation.rs")).expect("the source is there");
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("Kind::")?.split_once(" => \""));
    let kinds = lines.filter_map(|(kind, title)| {
        let name = kind.split(' ').next().unwrap_or(kind);
        Some((name.to_string(), title.split_once('"')?.0.to_string()))
    });
    kinds.collect()
}

/// The source of all that finds violations in a program: the runtime without what tells them, the checkers, and the engine's execution.
fn finding_source() -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders =
        ["src", "../checkers/src", "../core/src/execution"].map(|folder| own.join(folder)).to_vec();
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("there is a source") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != "reporting.rs") {
                text += &std::fs::read_to_string(path).expect("it is text");
            }
        }
    }
    text
}

/// Kinds that are only told are never found here: they are for programs in Rust.
#[test]
fn each_kind_of_violation_is_shown_by_a_program_with_a_fixed_twin() {
    let kinds = kinds();
    assert!(kinds.len() > 10, "the source lists kinds: {kinds:?}");
    let source = finding_source();
    let known = |name: &str| source.contains(&format!("Kind::{name}"));
    let shown: BTreeSet<String> = sources().iter().flat_map(|name| Head::of(name).twins()).collect();
    let missing: Vec<_> =
        kinds.iter().filter(|(name, title)| known(name) && !shown.contains(title)).collect();
    assert!(missing.is_empty(), "no program with a fixed twin shows {missing:?}");
}
