//! The examples of loom's and Shuttle's documentation, on the stand-ins: `cargo xtask suites --docs`.
//!
//! Each comment with an example becomes that of an item, named after its file and line, of a crate
//! that depends on the tool. A `[patch]` puts the stand-in for it. Names of crates which the tool is made of
//! are those of the tool itself there.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::fetch::{LOOM_VERSION, fetch};
use crate::Problem;
use crate::shell::{cargo, root, run as run_command};

/// A tool whose documentation has examples.
struct Documented {
    name: &'static str,
    version: &'static str,
    /// The folder of its stand-in.
    stand_in: &'static str,
    edition: &'static str,
    features: &'static str,
    /// Other crates that it is made of, with their versions.
    parts: &'static [(&'static str, &'static str)],
    /// What examples need besides.
    needs: &'static str,
    /// How examples begin that are not marked as they should be, and the mark: one shows a test which fails, another the
    /// same without the tool, which fails now and then.
    marks: &'static [(&'static str, &'static str)],
}

/// What versions of loom have in common.
const LOOM: Documented = Documented {
    name: "loom",
    version: LOOM_VERSION,
    stand_in: "loom",
    edition: "2018",
    features: "\"futures\", \"checkpoint\"",
    parts: &[],
    needs: "",
    marks: &[],
};

/// What versions of Shuttle have in common.
const SHUTTLE: Documented = Documented {
    name: "shuttle",
    version: crate::shuttle::VERSION,
    stand_in: "shuttle",
    edition: "2021",
    features: "",
    parts: &[],
    needs: "rand = \"0.8\"\n",
    marks: &[("```rust\nuse shuttle", "should_panic"), ("```rust\nuse std", "no_run")],
};

const TOOLS: [Documented; 7] = [
    LOOM,
    Documented { version: "0.6.1", stand_in: "loom-0.6", ..LOOM },
    Documented { version: "0.5.6", stand_in: "loom-0.5", ..LOOM },
    Documented {
        features: "\"annotation\", \"vector-clocks\"",
        parts: &[("shuttle-engine", "0.1.7"), ("shuttle-schedulers", "0.1.1"), ("shuttle-std", "0.1.5")],
        ..SHUTTLE
    },
    Documented { version: "0.8.1", stand_in: "shuttle-0.8", features: "\"annotation\"", ..SHUTTLE },
    Documented { version: "0.7.1", stand_in: "shuttle-0.7", ..SHUTTLE },
    Documented { version: "0.6.1", stand_in: "shuttle-0.6", ..SHUTTLE },
];

impl Documented {
    /// Marks examples that are not marked as they should be.
    fn mark(&self, text: String) -> String {
        let mark = |text: String, (start, mark): &(&str, &str)| {
            text.replace(start, &start.replacen('\n', &format!(",{mark}\n"), 1))
        };
        self.marks.iter().fold(text, mark)
    }
}

/// Runs the examples of all.
pub(super) fn run(folder: &Path) -> Result<(), Problem> {
    let mut wrong = Vec::new();
    for tool in &TOOLS {
        if let Err(problem) = examples_of(tool, folder) {
            wrong.push(problem);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn examples_of(tool: &Documented, folder: &Path) -> Result<(), Problem> {
    let mut library = String::from("#![allow(non_camel_case_types)]\n");
    let mut count = 0;
    for (name, version) in std::iter::once(&(tool.name, tool.version)).chain(tool.parts) {
        let source = fetch(name, version, folder)?;
        let mut files = Vec::new();
        collect(&source.join("src"), &mut files)?;
        files.push(source.join("README.md"));
        files.sort();
        for file in files {
            let text = read(&file)?;
            let place = file.strip_prefix(&source).unwrap_or(&file).display().to_string();
            let comments = if place.ends_with(".md") {
                vec![(1, tool.mark(text))]
            } else {
                comments_of(&text).collect()
            };
            for (line, comment) in comments.into_iter().filter(|(_, comment)| comment.contains("```")) {
                let comment = tool
                    .parts
                    .iter()
                    .fold(comment, |text, (part, _)| text.replace(&part.replace('-', "_"), tool.name));
                append(&mut library, &format!("{name} {place} {line}"), &comment);
                count += 1;
            }
        }
    }
    let package = folder.join("docs").join(tool.stand_in);
    write(&package.join("Cargo.toml"), &manifest(tool))?;
    write(&package.join("src/lib.rs"), &library)?;
    println!("{count} comments of {} {} have examples", tool.name, tool.version);
    let mut command = cargo(["test", "--doc", "--no-fail-fast"]);
    command.current_dir(&package).env("CARGO_TARGET_DIR", folder.join("docs/target"));
    run_command(&mut command)
}

fn manifest(tool: &Documented) -> String {
    let Documented { name, version, stand_in, edition, features, needs, .. } = tool;
    let stand_in = root().join("stand-ins").join(stand_in).display().to_string();
    format!(
        "[package]\nname = \"{name}-examples\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n[workspace]\n\
         [dependencies]\n{name} = {{ version = \"{version}\", features = [{features}] }}\n{needs}\
         [patch.crates-io]\n{name} = {{ path = {stand_in:?} }}\n"
    )
}

/// Adds an item that has the comment.
fn append(library: &mut String, place: &str, comment: &str) {
    for line in comment.lines() {
        writeln!(library, "///{line}").expect("a string takes everything");
    }
    let name: String = place.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    writeln!(library, "pub struct {name};").expect("a string takes everything");
}

/// The comments of a source file that are documentation, each with its first line.
fn comments_of(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut comments: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(line) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = false;
            continue;
        };
        if !open {
            comments.push((index + 1, String::new()));
            open = true;
        }
        if let Some((_, comment)) = comments.last_mut() {
            comment.push_str(line);
            comment.push('\n');
        }
    }
    comments.into_iter()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Problem> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_with_their_lines() {
        let text = "//! One\n//! two\n\nfn f() {} // not\n    /// three\n    fn g() {}\n";
        let comments: Vec<_> = comments_of(text).collect();
        assert_eq!(comments, [(1, String::from(" One\n two\n")), (5, String::from(" three\n"))]);
    }

    #[test]
    fn comments_become_items() {
        let mut library = String::new();
        append(&mut library, "a src/b.rs 3", " ```\n f();\n ```\n");
        assert_eq!(library, "/// ```\n/// f();\n/// ```\npub struct a_src_b_rs_3;\n");
    }
}
