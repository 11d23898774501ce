//! Each function that the runtime stands in for is used by a program of `tests/c`.

use std::collections::BTreeSet;

use object::{Object, ObjectSymbol};

use super::programs::Head;
use super::*;

/// What no program can call.
const NOT_CALLED: [&str; 1] = [
    // The code that the linker puts before each program calls it: without it none would start.
    "__libc_start_main",
];

/// The names that a file has symbols of.
fn symbols(path: &Path, defined: bool) -> BTreeSet<String> {
    let bytes = std::fs::read(path).expect("the file is there");
    let file = object::File::parse(&*bytes).expect("it is an object file");
    let symbols: Vec<_> = if defined { file.dynamic_symbols().collect() } else { file.symbols().collect() };
    let wanted = symbols.iter().filter(|symbol| symbol.is_undefined() != defined);
    wanted
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| !name.is_empty())
        .map(str::to_string)
        .collect()
}

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
            used.extend(symbols(
                &object(&compile_with(compiler, &name, &[&flags[..], more].concat())),
                false,
            ));
        }
    }
    let unused: Vec<&String> = exported
        .iter()
        .filter(|name| !used.contains(*name) && !NOT_CALLED.contains(&name.as_str()))
        .collect();
    assert!(unused.is_empty(), "no program uses {unused:?}");
    let useless = NOT_CALLED.iter().filter(|name| used.contains(**name) || !exported.contains(**name));
    assert_eq!(useless.count(), 0, "exceptions that are none");
}
