//! Published sources, and tests built from them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Suite;
use crate::Problem;
use crate::listed::{Listed, Program, built};
use crate::shell::{cargo, output, root, run};

/// A test program.
pub(super) struct Built {
    pub(super) program: PathBuf,
    /// Where its sources are, in which it runs.
    pub(super) source: PathBuf,
    /// What its environment must be.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// The version of loom whose tests are run on the stand-in.
pub(super) const LOOM_VERSION: &str = "0.7.2";

/// For how long one of loom's own tests may run.
const LONGEST: Duration = Duration::from_secs(120);

/// The folder with the sources of a published crate, fetched if it is not there.
pub(super) fn fetch(name: &str, version: &str, folder: &Path) -> Result<PathBuf, Problem> {
    let sources = folder.join("sources");
    let source = sources.join(format!("{name}-{version}"));
    if source.exists() {
        return Ok(source);
    }
    fs::create_dir_all(&sources).map_err(|error| format!("{}: {error}", sources.display()))?;
    let archive = sources.join(format!("{name}-{version}.crate"));
    let address = format!("https://static.crates.io/crates/{name}/{name}-{version}.crate");
    run(Command::new("curl").args(["-sSfL", "-o"]).arg(&archive).arg(address))?;
    run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&sources))?;
    Ok(source)
}

/// Builds the tests of a crate, with the stand-in or with what it stands in for.
pub(super) fn build(suite: &Suite, source: &Path, folder: &Path, ours: bool) -> Result<Built, Problem> {
    let tool = if ours { format!("unpick-{}", suite.stand_in) } else { String::from(suite.package) };
    let copy = folder.join(&tool).join(suite.name);
    renew(source, &copy)?;
    if ours {
        let stand_in = root().join("stand-ins").join(suite.stand_in);
        let patch = format!(
            "\n[patch.crates-io]\n{} = {{ path = {:?} }}\n",
            suite.package,
            stand_in.display().to_string()
        );
        append(&copy.join("Cargo.toml"), &patch)?;
    }
    println!("building the tests of {} with {tool}", suite.name);
    let program = compile(&copy, suite.arguments, suite.flags, &folder.join(&tool).join("target"))?;
    Ok(Built { program: in_one_piece(&program)?, source: copy, variables: suite.variables })
}

/// Copies a program, and says where. In the page cache a copy lies in few pieces, and what the linker has written in
/// many, now so and now otherwise: that makes half of the time of a short test.
fn in_one_piece(program: &Path) -> Result<PathBuf, Problem> {
    let copy = program.with_extension("copy");
    // Not `fs::copy`, which may let the file system share what is there.
    let write = || fs::write(&copy, fs::read(program)?);
    let allow = || fs::set_permissions(&copy, fs::metadata(program)?.permissions());
    write().and_then(|()| allow()).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(copy)
}

/// Builds a program with one test, which does nothing: `empty`.
pub(super) fn build_empty(folder: &Path) -> Result<Built, Problem> {
    let source = folder.join("empty");
    let create = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(source.join("src")).map_err(|error| format!("{}: {error}", source.display()))?;
    create(
        source.join("Cargo.toml"),
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n",
    )?;
    create(source.join("src").join("lib.rs"), "#[test]\nfn empty() {}\n")?;
    let program = compile(&source, &["--lib"], "", &source.join("target"))?;
    Ok(Built { program: in_one_piece(&program)?, source, variables: &[] })
}

/// Builds the tests of the crate in a folder, and says where they are.
fn compile(source: &Path, arguments: &[&str], flags: &str, target: &Path) -> Result<PathBuf, Problem> {
    let mut command = cargo(["test", "--release", "--no-run", "--message-format=json-render-diagnostics"]);
    command.args(arguments).current_dir(source).env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", target);
    let messages = output(&mut command)?;
    let last = built(&messages).next_back();
    last.map(|(_, path)| path).ok_or_else(|| format!("{} has no tests", source.display()))
}

/// Copies sources to where they are built, in place of what is there.
fn renew(source: &Path, copy: &Path) -> Result<(), Problem> {
    if copy.exists() {
        fs::remove_dir_all(copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    }
    if let Some(parent) = copy.parent() {
        fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
    }
    // Times are kept, so that cargo builds only what has changed. A lock file may hold another version of loom.
    run(Command::new("cp").arg("-rp").arg(source).arg(copy))?;
    match fs::remove_file(copy.join("Cargo.lock")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", copy.display())),
        _ => Ok(()),
    }
}

fn append(file: &Path, text: &str) -> Result<(), Problem> {
    let old = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    fs::write(file, old + text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Runs the tests that loom publishes with itself on the stand-in. Those that are known to end differently are listed in
/// `docs/loom.md`.
pub(super) fn own_tests(folder: &Path) -> Result<(), Problem> {
    let source = fetch("loom", LOOM_VERSION, folder)?;
    let copy = folder.join("own");
    renew(&source, &copy)?;
    let write =
        |name: &str, text: &str| fs::write(copy.join(name), text).map_err(|error| format!("{name}: {error}"));
    fs::remove_dir_all(copy.join("src")).map_err(|error| format!("src: {error}"))?;
    let stand_in = root().join("stand-ins/loom").display().to_string();
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"own-tests\"\nversion = \"0.0.0\"\nedition = \"2018\"\n\
             [lib]\npath = \"lib.rs\"\n\
             [features]\ndefault = [\"futures\"]\nfutures = []\n\
             [dev-dependencies]\nfutures-util = \"0.3\"\n\
             loom = {{ version = \"{LOOM_VERSION}\", features = [\"futures\", \"checkpoint\"] }}\n\
             [patch.crates-io]\nloom = {{ path = {stand_in:?} }}\n"
        ),
    )?;
    write("lib.rs", "")?;
    let mut command = cargo(["test", "--tests", "--no-run", "--message-format=json-render-diagnostics"]);
    // Their files forbid warnings, and guards of locks are to be used here, as with std.
    command.current_dir(&copy).env("RUSTFLAGS", "--cap-lints warn");
    let messages = output(command.env("CARGO_TARGET_DIR", folder.join("own-target")))?;
    let mut listed = Listed::read("docs/loom.md", "## loom's own tests")?;
    for (name, path) in built(&messages) {
        listed.compare(&Program { path, prefix: format!("{name}::") }, LONGEST, |_| true)?;
    }
    listed.conclude()
}
