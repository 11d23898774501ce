//! What no compiler looks at: `cargo xtask tidy`.
//!
//! - A file of a library has at most 700 lines; past 400 it is mentioned.
//! - Each Rust file starts with documentation of its module.
//! - File names say what is in the file.
//! - Some words are not to be used: notes to oneself, other names for what has one (see the table of
//!   words in `ARCHITECTURE.md`), paths of somebody's machine.
//! - Relative links in Markdown lead somewhere.
//! - The environment is read, thread-locals are, something is printed, and names become models and strategies in a few files only.
//! - What [`architecture`] compares.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::root;
use crate::{Problem, architecture};

const MOST_LINES: usize = 700;
const MANY_LINES: usize = 400;

/// Names of files that say nothing.
const EMPTY_NAMES: [&str; 5] = ["utils", "helpers", "common", "types", "misc"];

/// Words that are not to be used, each in two parts so that this file passes.
const BANNED: [(&str, &str); 14] = [
    ("TO", "DO"),
    ("FIX", "ME"),
    ("XX", "X"),
    ("HA", "CK"),
    ("todo", "!("),
    ("dbg", "!("),
    ("#[ig", "nore"),
    ("#[should", "_panic"),
    ("deny(war", "nings)"),
    ("/ro", "ot/"),
    ("/wo", "rk/"),
    ("SU", "T"),
    ("back", "tracking"),
    ("back", "track point"),
];

/// What stands in a few places of the libraries only, and where: `ARCHITECTURE.md` says why.
const ONLY_IN: [(&str, &[&str]); 9] = [
    (
        "env::var",
        &[
            "check/src/config.rs",
            "cli/src",
            "loom/src/model.rs",
            "native/src/start.rs",
            "report/src/source.rs",
            "report/src/text.rs",
            "shuttle/src",
            "unpick/src/files.rs",
        ],
    ),
    (
        "thread_local!",
        &[
            "core/src/mutant.rs",
            "native/src/unwind.rs",
            "runtime/src/arena.rs",
            "runtime/src/current.rs",
            "runtime/src/parked.rs",
            "runtime/src/signals.rs",
            "shuttle/src",
            "unpick/src/thread/local.rs",
        ],
    ),
    ("unpick_models::", &["check/src/registry.rs", "testkit/src"]),
    (
        "unpick_strategies::",
        &["check/src/auto.rs", "check/src/registry.rs", "check/src/strategies.rs", "testkit/src"],
    ),
    (
        "io::stderr",
        &[
            "check/src/meter.rs",
            "cli/src",
            "compare/src/command.rs",
            "runtime/src/streams.rs",
            "unpick/src/api.rs",
        ],
    ),
    ("io::stdout", &["cli/src", "compare/src", "runtime/src/streams.rs"]),
    ("print!(", &["cli/src", "runtime/src/streams.rs"]),
    ("println!(", &["cli/src", "loom/src/model.rs", "runtime/src/streams.rs"]),
    (
        "::write(2",
        &[
            "native/src/debugger.rs",
            "native/src/memory.rs",
            "native/src/own_memory.rs",
            "native/src/real.rs",
            "runtime/src/signals.rs",
        ],
    ),
];

pub(crate) fn run(commands: &[String]) -> Result<(), Problem> {
    let root = root();
    let mut files = Vec::new();
    for folder in ["crates", "benches", "stand-ins", "xtask", "examples", "tests", "docs"] {
        collect(&root.join(folder), &mut files)?;
    }
    for entry in read_dir(&root)? {
        if entry.extension().is_some_and(|extension| extension == "md") {
            files.push(entry);
        }
    }
    files.sort();
    let mut problems = architecture::problems(&root, commands)?;
    let mut long = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(&root).unwrap_or(path);
        look(name, path, &text, &mut problems, &mut long);
    }
    for remark in long {
        println!("tidy: {remark}");
    }
    for problem in &problems {
        println!("tidy: {problem}");
    }
    match problems.len() {
        0 => {
            println!("tidy: {} files are fine", files.len());
            Ok(())
        }
        count => Err(format!("{count} things to tidy up")),
    }
}

pub(crate) fn read_dir(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
}

/// All Rust and Markdown files in a folder, if there is such a folder.
pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Problem> {
    if !folder.is_dir() {
        return Ok(());
    }
    for path in read_dir(folder)? {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            files.push(path);
        }
    }
    Ok(())
}

fn look(name: &Path, path: &Path, text: &str, problems: &mut Vec<String>, long: &mut Vec<String>) {
    let shown = name.display();
    for (index, line) in text.lines().enumerate() {
        for (first, second) in BANNED {
            if line.contains(&format!("{first}{second}")) {
                problems.push(format!("{shown}:{}: `{first}{second}` is not to be used", index + 1));
            }
        }
    }
    if name.extension().is_some_and(|extension| extension == "md") {
        for link in links(text) {
            if !path.parent().is_some_and(|folder| folder.join(&link).exists()) {
                problems.push(format!("{shown}: the link to {link} leads nowhere"));
            }
        }
        return;
    }
    // Programs under test are inputs, whose lines are counted in reports.
    let is_input = name.components().any(|part| part.as_os_str() == "programs");
    if !is_input && !text.starts_with("//!") {
        problems.push(format!("{shown}: the file does not start with documentation of its module"));
    }
    if name.file_stem().is_some_and(|stem| EMPTY_NAMES.iter().any(|empty| stem == *empty)) {
        problems.push(format!("{shown}: the name does not say what is in the file"));
    }
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.flat_map(|line| [line, "\n"]).collect();
    let place = name
        .strip_prefix("crates")
        .ok()
        .filter(|place| place.iter().nth(1).is_some_and(|part| part == "src"));
    for (what, places) in ONLY_IN {
        if place
            .is_some_and(|place| code.contains(what) && !places.iter().any(|known| place.starts_with(known)))
        {
            problems.push(format!("{shown}: `{what}` stands in {} only", places.join(", ")));
        }
    }
    let lines = text.lines().count();
    let in_library = name.starts_with("crates") && name.components().any(|part| part.as_os_str() == "src");
    if in_library && lines > MOST_LINES {
        problems.push(format!("{shown}: {lines} lines, {MOST_LINES} are the limit"));
    } else if lines > MANY_LINES {
        long.push(format!("{shown} is long: {lines} lines"));
    }
}

/// Targets of the relative links in a Markdown text, without their anchors.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = targets.filter(|link| !link.contains("://") && !link.starts_with(['#', '<']));
    let files = relative.filter_map(|link| link.split('#').next().map(str::to_string));
    files.filter(|link| !link.is_empty() && !link.contains(char::is_whitespace)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, text: &str) -> Vec<String> {
        let (mut problems, mut long) = (Vec::new(), Vec::new());
        look(Path::new(name), &root().join(name), text, &mut problems, &mut long);
        problems
    }

    #[test]
    fn what_is_untidy_is_named() {
        let note = format!("//! Docs.\n// {}{}: later.\n", "TO", "DO");
        assert_eq!(problems("crates/a/src/a.rs", "//! Docs.\n").len(), 0);
        assert_eq!(problems("crates/a/src/a.rs", "fn a() {}\n").len(), 1);
        assert_eq!(problems("crates/a/src/a.rs", &note).len(), 1);
        assert_eq!(problems("crates/a/src/utils.rs", "//! Docs.\n").len(), 1);
        assert_eq!(problems("crates/a/src/a.rs", &"//! Docs.\n".repeat(701)).len(), 1);
        let reads = "//! Docs.\nfn a() { std::env::var(NAME); }\n";
        assert_eq!(problems("crates/a/src/a.rs", reads).len(), 1);
        assert_eq!(problems("crates/cli/src/a.rs", reads).len(), 0);
        assert_eq!(problems("crates/a/tests/a.rs", reads).len(), 0);
        assert_eq!(problems("a.md", "[a](no/such/file.md) [b](https://example.org) [c](#here)").len(), 1);
    }
}
