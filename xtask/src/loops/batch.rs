//! Programs that are built together, and judged one by one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::builds::{self, CBuild, RustBuild};
use super::compare::{Built, Judgement};
use super::program::{Place, Program};
use super::{c, rust};
use crate::Problem;
use crate::shell::root;

/// A language, and how it is built.
#[derive(Clone, Debug)]
pub(crate) enum Build {
    Rust(RustBuild),
    /// With the command line that wraps the compiler.
    C(CBuild, PathBuf),
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Build::Rust(build) => write!(f, "Rust {build}"),
            Build::C(build, _) => write!(f, "C {build}"),
        }
    }
}

impl Build {
    /// All builds of Rust.
    pub(crate) fn of_rust() -> Vec<Build> {
        [RustBuild::Debug, RustBuild::Release, RustBuild::Lto].map(Build::Rust).to_vec()
    }

    /// All builds of C.
    pub(crate) fn of_c(
        unpick: &Path,
        compilers: &[String],
        levels: &[String],
    ) -> Result<Vec<Build>, Problem> {
        let builds = CBuild::all(compilers, levels)?;
        Ok(builds.into_iter().map(|build| Build::C(build, unpick.to_path_buf())).collect())
    }

    /// A name for files.
    pub(crate) fn name(&self) -> String {
        self.to_string().replace(' ', "-").replace("--", "-").to_lowercase()
    }

    /// How names of sources end.
    pub(crate) fn ending(&self) -> &'static str {
        match self {
            Build::Rust(_) => "rs",
            Build::C(..) => "c",
        }
    }

    /// Where slots may lie.
    pub(crate) fn places(&self) -> &'static [Place] {
        match self {
            Build::Rust(_) => &Place::RUST,
            Build::C(..) => &Place::C,
        }
    }

    /// The source of programs.
    pub(crate) fn source(&self, programs: &[Program]) -> String {
        match self {
            Build::Rust(_) => rust::source(programs),
            Build::C(..) => c::source(programs),
        }
    }

    /// Builds programs; `name` is of those that are built at the same time.
    fn build(&self, programs: &[Program], name: &str) -> Result<Built, Problem> {
        match self {
            Build::Rust(build) => {
                let folder = builds::folder(&format!("fuzz-rust-{name}"))?;
                // As the programs that are kept, so that what they depend on is built once.
                let kept = root().join("tests/false-holds/runner/Cargo.toml");
                let manifest = std::fs::read_to_string(&kept).map_err(|error| problem(&kept, &error))?;
                let unpick = root().join("crates/unpick").display().to_string();
                let manifest = manifest.replace("../../../crates/unpick", &unpick);
                let package = format!("loops-fuzz-{name}");
                let manifest = manifest.replace("\"false-holds\"", &format!("{package:?}"));
                write(&folder.join("Cargo.toml"), &manifest)?;
                write(&folder.join("src/main.rs"), &self.source(programs))?;
                let programs = build.build(&folder.join("Cargo.toml"))?;
                Ok(Built::Rust { program: programs.join(package), worker: Mutex::default() })
            }
            Build::C(build, unpick) => {
                let folder = builds::folder("fuzz-c")?;
                let [source, unseen, program] = ["c", "unseen.c", "out"]
                    .map(|ending| folder.join(format!("{name}-{}.{ending}", self.name())));
                write(&source, &self.source(programs))?;
                write(&unseen, c::UNSEEN)?;
                build.build(unpick, &source, Some(&unseen), &program)?;
                Ok(Built::C { unpick: unpick.clone(), program })
            }
        }
    }
}

fn problem(path: &Path, error: &std::io::Error) -> Problem {
    format!("{}: {error}", path.display())
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| problem(folder, &error))?;
    }
    std::fs::write(path, text).map_err(|error| problem(path, &error))
}

/// Programs that were built together.
pub(crate) struct Batch {
    pub(crate) programs: Vec<Program>,
    built: Built,
}

impl Batch {
    pub(crate) fn build(build: &Build, programs: Vec<Program>, name: &str) -> Result<Batch, Problem> {
        let built = build.build(&programs, name)?;
        Ok(Batch { programs, built })
    }

    /// Judges each program.
    pub(crate) fn judge(&self) -> Result<Vec<Judgement>, Problem> {
        self.programs.iter().enumerate().map(|(number, program)| self.built.judge(number, program)).collect()
    }
}
