//! `unpick migrate --check`: what a crate uses of loom or Shuttle, and whether the stand-ins have it.
//!
//! Sources are parsed, not compiled: paths are followed through `use` and modules, also inside macros, and methods are
//! told by their names. So what a macro builds, or a glob brings in, is seen as far as it is written
//! down. Manifests say which versions are asked for, and the lock file whether a patch is used.

mod cfg;
mod items;
mod lock;
mod manifests;
mod scope;
mod stand_ins;
mod standing;
mod uses;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::Exit;
use crate::error::Error;
use crate::run::say;
use items::{Coverage, TOOLS};
use manifests::Manifests;
use uses::Use;

/// Says what the crate in a folder uses, and whether it is covered.
pub(crate) fn check(folder: &Path) -> Result<Exit, Error> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let (mut found, mut unread) = (BTreeMap::new(), Vec::new());
    let manifests = Manifests::read(folder).unwrap_or_else(|problem| {
        unread.push(format!("Cargo.toml: {problem}"));
        Manifests::none()
    });
    for path in &files {
        let text = std::fs::read_to_string(path)
            .map_err(|problem| Error::Unreadable { path: path.clone(), problem })?;
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        match uses::of(&text, &manifests.crates) {
            Ok(uses) => note(&mut found, &name, uses),
            Err(problem) => unread.push(format!("{name}: {problem}")),
        }
    }
    let (standing, fits) = manifests.standing();
    let (text, covered) = tell(&found, files.len(), &unread);
    let versions =
        if standing.is_empty() { String::new() } else { format!("versions:\n{}\n\n", standing.join("\n")) };
    say(&(versions + &text))?;
    Ok(if covered && fits && unread.is_empty() { Exit::Holds } else { Exit::Violated })
}

/// What to tell who has run `cargo test` with these arguments: whether loom or Shuttle itself was used. Where that cannot be found out,
/// nothing is said.
pub(crate) fn unchecked(arguments: &[OsString]) -> Vec<String> {
    const PATH: &str = "--manifest-path";
    let is_path = |word: &&OsString| word.to_string_lossy().starts_with(PATH);
    let words = if arguments.iter().any(|word| word == PATH) { 2 } else { 1 };
    let start = arguments.iter().position(|word| is_path(&word)).unwrap_or(arguments.len());
    let path = arguments[start..].iter().take(words);
    Manifests::ask(path.map(OsString::as_os_str), None)
        .map(|manifests| manifests.unchecked())
        .unwrap_or_default()
}

/// The uses of one item: how many, and where the first is.
#[derive(Debug, PartialEq, Eq)]
struct Uses {
    count: usize,
    first: String,
}

/// Uses by tool and item.
type Found = BTreeMap<(&'static str, String), Uses>;

fn note(found: &mut Found, file: &str, uses: Vec<Use>) {
    for Use { tool, item, line } in uses {
        let first = || Uses { count: 0, first: format!("{file}:{line}") };
        found.entry((tool, item)).or_insert_with(first).count += 1;
    }
}

/// The sources in a folder, without what was built.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |problem| Error::Unreadable { path: folder.to_path_buf(), problem };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// What there is to say, and whether everything is covered.
fn tell(found: &Found, files: usize, unread: &[String]) -> (String, bool) {
    let mut out = String::new();
    let mut all = true;
    for tool in TOOLS {
        let used: Vec<_> = found.iter().filter(|((of, _), _)| *of == tool.name).collect();
        if used.is_empty() {
            continue;
        }
        let width = used.iter().map(|((_, item), _)| item.len()).max().unwrap_or(0);
        let mut missing = 0;
        writeln!(out, "{}:", tool.name).expect("a string takes everything");
        for ((_, item), uses) in &used {
            let verdict = match tool.coverage(item) {
                Coverage::Covered => String::from("covered"),
                Coverage::Missing(reason) => format!("NOT COVERED: {reason}"),
            };
            missing += usize::from(verdict != "covered");
            writeln!(out, "  {item:width$}  {:3} x  {verdict} ({})", uses.count, uses.first)
                .expect("a string takes everything");
        }
        let what = if missing == 0 {
            format!("all {} items are covered: {}", used.len(), tool.advice)
        } else {
            format!("{missing} of {} items are not covered", used.len())
        };
        writeln!(out, "  {what}\n").expect("a string takes everything");
        all &= missing == 0;
    }
    if out.is_empty() {
        writeln!(out, "none of the {files} source files here uses loom or Shuttle\n")
            .expect("a string takes everything");
    }
    for problem in unread {
        writeln!(out, "not understood: {problem}").expect("a string takes everything");
    }
    (out, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (String, bool) {
        let mut found = Found::new();
        note(&mut found, "src/lib.rs", uses::of(text, &Manifests::none().crates).expect("the text is Rust"));
        tell(&found, 1, &[])
    }

    #[test]
    fn what_is_used_is_told_with_its_first_place() {
        let (text, covered) = told("use loom::sync::Arc;\nfn f(_: loom::sync::Arc<u8>) {}\n");
        assert!(covered, "{text}");
        assert!(text.contains("sync::Arc    2 x  covered (src/lib.rs:1)"), "{text}");
    }

    #[test]
    fn what_is_not_covered_is_told_with_a_reason() {
        let (text, covered) = told("use shuttle::future::fly;\n");
        assert!(!covered && text.contains("future::fly"), "{text}");
        assert!(text.contains("NOT COVERED: Shuttle 0.9 has no such item"), "{text}");
        let (text, covered) = told("use shuttle::check_dfs; fn f() { unsafe { number.raw_load() }; }\n");
        assert!(!covered && text.contains(".raw_load"), "{text}");
    }

    #[test]
    fn a_crate_that_uses_neither_is_told_so() {
        let (text, covered) = told("fn main() {}");
        assert!(covered && text.contains("uses loom or Shuttle"), "{text}");
    }
}
