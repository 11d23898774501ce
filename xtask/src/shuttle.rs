//! Shuttle's own tests and examples on the stand-in: `cargo xtask shuttle-tests`.
//!
//! Sources are those that were published; cargo fetches them, and they are not kept here. Each test is a
//! process of its own, since some hang. Tests that are known to end differently are listed in
//! `docs/shuttle.md`, each with the reason; one that is not listed, or that is and passes, is a failure of this
//! command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Problem;
use crate::shell::{cargo, output, root, run, target};

pub(crate) const VERSION: &str = "0.9.9";

/// The heading in `docs/shuttle.md` under which tests are listed, in backticks.
const HEADING: &str = "## Shuttle's own tests";

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
        let program = executable(&output(&mut { build })?)?;
        let known = known()?;
        let (mut passed, mut different, mut wrong) = (0, 0, Vec::new());
        for test in tests(&program)?.into_iter().filter(|test| self.is_wanted(test)) {
            let ended = passes(&program, &test, Duration::from_secs(self.seconds))?;
            match (ended, is_known(&known, &test)) {
                (true, false) => passed += 1,
                (false, true) => different += 1,
                // Of a module, some tests may pass.
                (true, true) if known.contains(&test) => wrong.push(format!("{test} passes, and is listed")),
                (true, true) => passed += 1,
                (false, false) => wrong.push(format!("{test} fails, and is not listed")),
            }
        }
        println!("{passed} tests pass; {different} end differently, as docs/shuttle.md says");
        run(&mut cargo_in(&suite, &["test", "--doc"]))?;
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    fn is_wanted(&self, test: &str) -> bool {
        self.only.as_ref().is_none_or(|part| test.contains(part))
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

/// The test program, from what cargo says about what it built.
fn executable(messages: &str) -> Result<PathBuf, Problem> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut built = messages.filter(|message| message["target"]["name"] == "mod");
    let path = built.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.ok_or_else(|| String::from("cargo has built no tests"))
}

/// The names of the tests that are run; one of them compiles programs and compares messages of the compiler.
fn tests(program: &Path) -> Result<Vec<String>, Problem> {
    let list = |more: &[&str]| -> Result<BTreeSet<String>, Problem> {
        let listed = output(Command::new(program).arg("--list").args(more))?;
        Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(String::from).collect())
    };
    let ignored = list(&["--ignored"])?;
    Ok(list(&[])?.into_iter().filter(|test| !ignored.contains(test) && test != "ui").collect())
}

fn passes(program: &Path, test: &str, limit: Duration) -> Result<bool, Problem> {
    let mut command = Command::new(program);
    command.args([test, "--exact", "--test-threads=1"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if started.elapsed() < limit => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                child.kill().and_then(|()| child.wait()).map_err(|error| format!("{test}: {error}"))?;
                return Ok(false);
            }
        }
    }
}

/// The tests that are listed as different, or the modules of such.
fn known() -> Result<Vec<String>, Problem> {
    let text = read(&root().join("docs/shuttle.md"))?;
    let (_, part) = text.split_once(HEADING).ok_or_else(|| format!("docs/shuttle.md has no `{HEADING}`"))?;
    Ok(part.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).map(String::from).collect())
}

fn is_known(known: &[String], test: &str) -> bool {
    known
        .iter()
        .any(|name| name == test || name.strip_suffix('*').is_some_and(|start| test.starts_with(start)))
}
