//! Each function that the runtime stands in for is used by a program of `tests/c`.

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
    let unused: Vec<&String> = exported.difference(&used).collect();
    assert!(unused.is_empty(), "no program uses {unused:?}");
}
