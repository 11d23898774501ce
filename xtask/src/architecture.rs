//! What `ARCHITECTURE.md` says of the code, compared with the code: a part of `cargo xtask tidy`.
//!
//! - Each package of the workspace depends on those packages that the table of dependencies gives it.
//! - The map has each folder of `crates`, and no other; and each command of `xtask` is named.
//! - Files and folders that are named are there, and so are names of items, such as `core::plan::Tally`.
//! - Packages that may have no unsafe code forbid it.
//! - The engine asks for nothing that differs from run to run, and keeps nothing outside of its objects.
//! - The oracle does not use the engine.
//! - No dependency knows of loom.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::Problem;
use crate::tidy::{collect, read_dir};

/// Packages that have unsafe code.
const UNSAFE: [&str; 7] = ["driver", "emulator", "loom", "loops", "native", "runtime", "unpick"];

/// Packages whose result depends on what they are given, and on nothing else.
const PURE: [&str; 4] = ["checkers", "core", "models", "strategies"];

/// What is not in them.
const IMPURE: [&str; 13] = [
    "HashMap",
    "HashSet",
    "Instant",
    "LazyLock",
    "OnceLock",
    "RandomState",
    "SystemTime",
    "static mut",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
];

/// Types of statics that can be written to.
const CHANGING: [&str; 4] = ["Atomic", "Cell", "Mutex", "RwLock"];

/// The files of `testkit` that make the oracle.
const ORACLE: [&str; 8] = ["axioms", "key", "model", "oracle", "places", "program", "relation", "trace"];

/// Dependencies by the names of the table, which leaves out `unpick-`.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// What is not as the file says; `commands`: the names of those of `xtask`.
pub(crate) fn problems(root: &Path, commands: &[String]) -> Result<Vec<String>, Problem> {
    let text = read(&root.join("ARCHITECTURE.md"))?;
    let mut problems = Vec::new();
    let packages = packages(root)?;
    for package in packages.keys() {
        if !UNSAFE.contains(&package.as_str()) && !forbids_unsafe(root, package)? {
            problems.push(format!("crates/{package} does not forbid unsafe code"));
        }
    }
    problems.extend(differences(&arrows(&text), &packages));
    problems.extend(unmapped(&text, packages.keys().filter(|name| root.join("crates").join(name).is_dir())));
    let unnamed = commands.iter().filter(|name| !mentions(&text, name));
    problems
        .extend(unnamed.map(|name| format!("ARCHITECTURE.md does not name the command `{name}` of xtask")));
    let sources = sources(root, packages.keys())?;
    // Recipes name files that are yet to be made.
    for span in spans(&text).filter(|span| !span.contains("NAME")) {
        problems
            .extend(lost(root, &sources, span).then(|| format!("ARCHITECTURE.md: `{span}` is not there")));
    }
    for (package, files) in &sources {
        for (file, code) in files {
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if PURE.contains(&package.as_str()) {
                problems
                    .extend(impure(code).map(|what| format!("{}: `{what}` in the engine", file.display())));
            }
            if package == "testkit" && ORACLE.contains(&stem) && code.contains("unpick_") {
                problems.push(format!("{}: the oracle uses the engine", file.display()));
            }
        }
    }
    problems.extend(know_loom(root)?);
    Ok(problems)
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A file without its comments.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn forbids_unsafe(root: &Path, package: &str) -> Result<bool, Problem> {
    let library = root.join("crates").join(package).join("src/lib.rs");
    Ok(!library.is_file() || read(&library)?.contains("#![forbid(unsafe_code)]"))
}

/// What each package depends on, by its manifest.
fn packages(root: &Path) -> Result<Arrows, Problem> {
    let mut packages = Arrows::new();
    let mut add = |name: String, folder: &Path| -> Result<(), Problem> {
        packages.insert(name, dependencies(&read(&folder.join("Cargo.toml"))?));
        Ok(())
    };
    for folder in read_dir(&root.join("crates"))? {
        let name = folder.file_name().and_then(|name| name.to_str()).map(str::to_string);
        if let Some(name) = name.filter(|_| folder.join("Cargo.toml").is_file()) {
            add(name, &folder)?;
        }
    }
    for name in ["benches/bugs", "benches/engine", "xtask"] {
        add(name.to_string(), &root.join(name))?;
    }
    Ok(packages)
}

/// The packages of the workspace that a manifest names as dependencies, those of its tests left out.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let is_dependency = section == "dependencies" || section.ends_with(".dependencies");
        if is_dependency && (name == "unpick" || name.starts_with("unpick-")) {
            found.insert(name.strip_prefix("unpick-").unwrap_or(name).to_string());
        }
    }
    found
}

/// The table of dependencies.
fn arrows(text: &str) -> Arrows {
    let section = text.split("## Dependency direction").nth(1).unwrap_or_default();
    let table = section.split("```").nth(1).unwrap_or_default();
    let mut arrows = Arrows::new();
    for (to, from) in table.lines().filter_map(|line| line.split_once("<-")) {
        let names = |list: &str| list.split(',').map(|name| name.trim().to_string()).collect::<Vec<_>>();
        let from = names(from.split(';').next().unwrap_or_default());
        let to = names(to).into_iter().filter(|name| name != "(nothing)").collect::<BTreeSet<_>>();
        for name in from {
            arrows.entry(name).or_default().extend(to.iter().cloned());
        }
    }
    arrows
}

/// Where the table and the manifests differ.
fn differences(table: &Arrows, packages: &Arrows) -> Vec<String> {
    let nothing = BTreeSet::new();
    let names: BTreeSet<_> = table.keys().chain(packages.keys()).collect();
    let mut problems = Vec::new();
    for name in names {
        let (said, is) = (table.get(name), packages.get(name).unwrap_or(&nothing));
        if said.is_none() {
            problems.push(format!("the table of dependencies in ARCHITECTURE.md leaves out {name}"));
        }
        let said = said.unwrap_or(&nothing);
        if said.contains("everything") {
            continue;
        }
        let wrong = said.symmetric_difference(is);
        problems.extend(wrong.map(|other| {
            let does = if is.contains(other) { "depends" } else { "does not depend" };
            format!("{name} {does} on {other}: the table in ARCHITECTURE.md says otherwise")
        }));
    }
    problems
}

/// Folders of `crates` that the map leaves out, and those that it has and that are not there.
fn unmapped<'a>(text: &str, folders: impl Iterator<Item = &'a String>) -> Vec<String> {
    let section = text.split("## The map").nth(1).unwrap_or_default();
    let map = section.split("```").nth(1).unwrap_or_default();
    let entries = map.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let said: BTreeSet<_> =
        entries.filter_map(|line| Some(line.trim().split_once('/')?.0.to_string())).collect();
    let is: BTreeSet<_> = folders.cloned().collect();
    said.symmetric_difference(&is)
        .map(|name| format!("the map in ARCHITECTURE.md and crates/{name} differ"))
        .collect()
}

/// Whether a text has a word.
fn mentions(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
        .any(|part| part == word)
}

/// What is between backticks, and in blocks the names of items.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    let parts = || text.split("```");
    let prose = parts().step_by(2).flat_map(|part| part.split('`').skip(1).step_by(2));
    let words = |block| str::split(block, |letter: char| letter.is_whitespace() || "(),".contains(letter));
    prose.chain(parts().skip(1).step_by(2).flat_map(words).filter(|word| word.contains("::")))
}

/// The code of each package, by file.
fn sources<'a>(
    root: &Path,
    packages: impl Iterator<Item = &'a String>,
) -> Result<BTreeMap<String, Vec<(PathBuf, String)>>, Problem> {
    let mut sources = BTreeMap::new();
    for package in packages {
        let mut files = Vec::new();
        collect(&root.join("crates").join(package).join("src"), &mut files)?;
        let mut found = Vec::new();
        for file in files {
            let text = code(&read(&file)?);
            found.push((file.strip_prefix(root).unwrap_or(&file).to_path_buf(), text));
        }
        sources.insert(package.clone(), found);
    }
    Ok(sources)
}

/// Whether a name or a path leads nowhere. What is not written as either does not count.
fn lost(root: &Path, sources: &BTreeMap<String, Vec<(PathBuf, String)>>, span: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
    let is_file = span.contains('/') || [".rs", ".md", ".toml"].iter().any(|end| span.ends_with(end));
    if is_file && span.chars().all(is_word) && !span.starts_with('/') {
        // Each of some packages has a file of such a name.
        return span != "clippy.toml" && !root.join(span).exists();
    }
    let parts: Vec<_> = span.split("::").collect();
    let is_name = |part: &&str| {
        !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    if parts.len() < 2 || !parts.iter().all(is_name) {
        return false;
    }
    let has = |files: &[(PathBuf, String)], name: &str| {
        let is_module =
            |file: &Path| file.with_extension("").components().any(|part| part.as_os_str() == name);
        let defines = |code: &str| {
            ["fn", "struct", "enum", "trait", "mod", "type"].iter().any(|kind| {
                let start = format!("{kind} {name}");
                let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
                code.split(&start).skip(1).any(ends)
            })
        };
        let hands_on =
            |code: &str| code.lines().any(|line| line.starts_with("pub use ") && mentions(line, name));
        files.iter().any(|(file, code)| is_module(file) || defines(code) || hands_on(code))
    };
    match sources.get(&parts[0].replace('_', "-")) {
        Some(files) => parts[1..].iter().any(|part| !has(files, part)),
        // A type of ours, or one of the standard library.
        None => {
            let own: Vec<_> = sources.values().filter(|files| has(files, parts[0])).collect();
            !own.is_empty() && !own.iter().any(|files| parts[1..].iter().all(|part| has(files, part)))
        }
    }
}

/// What the engine must not have.
fn impure(code: &str) -> impl Iterator<Item = &str> {
    let words = IMPURE.into_iter().filter(|word| code.contains(word));
    let is_static = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("static ") || line.starts_with("pub") && line.contains(" static ")
    };
    // The tests' mistakes: the feature `mutants` only.
    let lines = code.lines().filter(is_static).filter(|line| !line.contains("CHOSEN"));
    words.chain(lines.filter(|line| CHANGING.iter().any(|kind| line.contains(kind))))
}

/// Dependencies that depend on loom, or have a case for it: their manifests name it.
fn know_loom(root: &Path) -> Result<Vec<String>, Problem> {
    let lock = read(&root.join("Cargo.lock"))?;
    let homes = [
        std::env::var_os("CARGO_HOME").map(PathBuf::from),
        std::env::home_dir().map(|home| home.join(".cargo")),
    ];
    let mut registries = Vec::new();
    for home in homes.into_iter().flatten() {
        registries.extend(read_dir(&home.join("registry/src")).unwrap_or_default());
    }
    let mut problems = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let value =
            |key: &str| package.split(&format!("{key} = \"")).nth(1).and_then(|rest| rest.split('"').next());
        let (Some(name), Some(version), Some(_)) = (value("\nname"), value("\nversion"), value("\nsource"))
        else {
            continue;
        };
        let manifests =
            registries.iter().map(|registry| registry.join(format!("{name}-{version}/Cargo.toml")));
        let knows = manifests
            .filter_map(|manifest| fs::read_to_string(manifest).ok())
            .any(|text| mentions(&text, "loom"));
        if knows || name == "loom" {
            problems.push(format!("Cargo.lock: {name} {version} knows of loom"));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    const TABLE: &str = "## Dependency direction\n```text\na, b <- c\n(nothing) <- a, b; never c\n```\n";

    #[test]
    fn arrows_are_those_of_the_manifests() {
        let manifest = |names: &[&str]| {
            let lines = names.iter().map(|name| format!("unpick-{name}.workspace = true\n"));
            let lines: String = lines.collect();
            dependencies(&format!(
                "[dependencies]\nserde = \"1\"\n{lines}[dev-dependencies]\nunpick-z = \"1\"\n"
            ))
        };
        let packages = |c: &[&str]| {
            Arrows::from(
                [("a", &[][..]), ("b", &[]), ("c", c)].map(|(name, to)| (name.to_string(), manifest(to))),
            )
        };
        assert_eq!(differences(&arrows(TABLE), &packages(&["a", "b"])), Vec::<String>::new());
        assert_eq!(differences(&arrows(TABLE), &packages(&["a"])).len(), 1);
        assert_eq!(differences(&arrows(TABLE), &packages(&["a", "b", "d"])).len(), 1);
    }

    #[test]
    fn names_lead_to_items_and_files() {
        let names = [String::from("core")];
        let sources = sources(&root(), names.iter()).unwrap();
        let is_lost = |span: &str| lost(&root(), &sources, span);
        assert!(!is_lost("core::plan::Tally") && !is_lost("xtask/src/main.rs") && !is_lost("Execution::op"));
        assert!(
            is_lost("core::plan::Nothing")
                && is_lost("xtask/src/nothing.rs")
                && is_lost("Execution::nothing")
        );
        assert!(!is_lost("Box::nothing") && !is_lost("try_lock") && !is_lost("po ∪ rf"));
    }

    #[test]
    fn the_engine_is_pure() {
        assert_eq!(impure("static TABLE: [u8; 1] = [0];\nuse std::fmt;\n").count(), 0);
        assert_eq!(impure("use std::time::Instant;\n").count(), 1);
        assert_eq!(impure("pub(crate) static COUNT: AtomicU32 = AtomicU32::new(0);\n").count(), 1);
    }
}
