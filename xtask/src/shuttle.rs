//! Shuttle's own tests and examples on the stand-in: `cargo xtask shuttle-tests`.
//!
//! Sources are those that were published; cargo fetches them, and they are not kept here. Tests that are known to end
//! differently are listed in `docs/shuttle.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Problem;
use crate::listed::{Listed, Program, built};
use crate::shell::{cargo, output, root, run, target};

pub(crate) const VERSION: &str = "0.9.9";

#[derive(clap::Args)]
pub(crate) struct ShuttleTests {
    /// Only tests whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Seconds after which a test counts as failed.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

impl ShuttleTests {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let folder = target().join("shuttle-tests");
        let published = fetch(&folder.join("published"))?;
        let suite = folder.join("suite");
        assemble(&published, &suite)?;
        let build = cargo_in(&suite, &["test", "--no-run", "--message-format=json"]);
        let messages = output(&mut { build })?;
        let built = built(&messages).find(|(name, _)| name == "mod");
        let (_, path) = built.ok_or("cargo has built no tests")?;
        let mut listed = Listed::read("docs/shuttle.md", "## Shuttle's own tests")?;
        let program = Program { path, prefix: String::new() };
        listed.compare(&program, Duration::from_secs(self.seconds), |test| self.is_wanted(test))?;
        run(&mut cargo_in(&suite, &["test", "--doc"]))?;
        listed.conclude()
    }

    /// Whether a test is run; one of them compiles programs and compares messages of the compiler.
    fn is_wanted(&self, test: &str) -> bool {
        test != "ui" && self.only.as_ref().is_none_or(|part| test.contains(part))
    }
}

fn cargo_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = cargo(arguments);
    command.current_dir(folder).env("CARGO_TARGET_DIR", target().join("shuttle-tests/target"));
    command
}

/// Has cargo fetch the sources: where they are.
fn fetch(folder: &Path) -> Result<PathBuf, Problem> {
    let manifest = format!(
        "[package]\nname = \"published\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nshuttle = \"={VERSION}\"\n"
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(&folder.join("src/lib.rs"), "")?;
    let metadata = output(&mut cargo_in(folder, &["metadata", "--format-version=1"]))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo's metadata: {error}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo's metadata has no packages")?;
    let own = packages.iter().find(|package| package["name"] == "shuttle");
    let manifest = own.and_then(|package| package["manifest_path"].as_str()).ok_or("cargo has no Shuttle")?;
    Path::new(manifest).parent().map(Path::to_path_buf).ok_or_else(|| String::from("Shuttle has no folder"))
}

/// Puts the tests together with the stand-in.
fn assemble(published: &Path, suite: &Path) -> Result<(), Problem> {
    let stand_in = root().join("stand-ins/shuttle");
    let manifest = format!(
        r#"[package]
name = "suite"
edition = "2021"
autotests = false

[workspace]

[features]
default = ["annotation", "vector-clocks"]
annotation = []
vector-clocks = []

[[test]]
name = "mod"
path = "tests/mod.rs"

[dependencies]
shuttle = {{ version = "{VERSION}", features = ["annotation", "vector-clocks"] }}

[dev-dependencies]
futures = "0.3.15"
pin-project = "1.1.3"
proptest = "1.0.0"
proptest-derive = "0.5.0"
rand = "0.8"
regex = "1.5.5"
rustversion = "1"
serde_json = "1"
tempfile = "3.2.0"
test-log = {{ version = "0.2.8", default-features = false, features = ["trace"] }}
tracing = "0.1.36"
tracing-subscriber = {{ version = "0.3.9", features = ["env-filter"] }}
trybuild = "1.0"

[patch.crates-io]
shuttle = {{ path = "{}" }}

[profile.dev]
debug = 0

[profile.dev.package."*"]
opt-level = 1
"#,
        stand_in.display()
    );
    write(&suite.join("Cargo.toml"), &manifest)?;
    // The examples of the documentation, as documentation.
    let library = read(&published.join("src/lib.rs"))?;
    let examples: Vec<&str> = library.lines().filter(|line| line.starts_with("//!")).collect();
    write(&suite.join("src/lib.rs"), &format!("{}\n", examples.join("\n")))?;
    copy(&published.join("tests"), &suite.join("tests"))?;
    // What is not of Shuttle's public API, or what docs/shuttle.md says does not compile.
    let threads = suite.join("tests/basic/thread.rs");
    let text = read(&threads)?.replace("MutexGuard<'_, usize>", "MutexGuard<'static, usize>");
    let start =
        text.find("    /// A thread's slot for a `DestroyedLastKey`").ok_or("a test was not found")?;
    let length = text[start..].find("\n    }\n").ok_or("a test has no end")?;
    write(&threads, &format!("{}{}", &text[..start], &text[start + length + 7..]))
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), Problem> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries.flatten() {
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &place)?;
        } else {
            write(&place, &read(&path)?)?;
        }
    }
    Ok(())
}
