//! The corpus of `tests/false-holds`: `cargo xtask false-holds`.
//!
//! One file is one program. Its first line is the verdict that is right, whatever the build; the next ones say why. Rust
//! files have a function `program` that returns what is to be checked. A C file may have another one with the ending
//! `.unseen.c`, which is built without the wrapper. `x_mended` is `x` as it should be.

use std::path::{Path, PathBuf};

use super::builds::{self, CBuild, RustBuild};
use super::verdict::{Explored, TIME, Verdict, checking, explore, for_each};
use crate::Problem;
use crate::shell::root;

#[derive(clap::Args)]
pub(crate) struct FalseHolds {
    /// Only programs with this in the names of their files.
    #[arg(long, default_value = "")]
    only: String,
    /// How Rust programs are built.
    #[arg(long, value_delimiter = ',', default_value = "debug,release,lto")]
    builds: Vec<RustBuild>,
    /// C compilers; those of gcc and clang that are there, unless some are named.
    #[arg(long, value_delimiter = ',')]
    compilers: Vec<String>,
    /// Levels of optimisation of C programs.
    #[arg(long, value_delimiter = ',', default_value = "O0,O1,O2")]
    levels: Vec<String>,
    /// Leaves out what is as it should be.
    #[arg(long)]
    short: bool,
    /// Lets checks of programs that hold be inconclusive. One that misses a violation is wrong all the same.
    #[arg(long)]
    allow_inconclusive: bool,
}

/// A program of the corpus.
struct Program {
    path: PathBuf,
    /// The name of the file.
    file: String,
    expected: Verdict,
}

impl Program {
    fn ends_in(&self, ending: &str) -> bool {
        self.path.extension().is_some_and(|own| own == ending)
    }

    /// The name of the file without its ending.
    fn stem(&self) -> &str {
        self.file.split('.').next().unwrap_or(&self.file)
    }

    /// The source beside it that is built without the wrapper.
    fn unseen(&self) -> Option<PathBuf> {
        Some(self.path.with_extension("unseen.c")).filter(|path| path.exists())
    }
}

impl FalseHolds {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let programs: Vec<Program> = load(&root().join("tests/false-holds"))?;
        let programs: Vec<Program> =
            programs.into_iter().filter(|program| program.file.contains(&self.only)).collect();
        let (rust, c): (Vec<&Program>, Vec<&Program>) =
            programs.iter().partition(|program| program.ends_in("rs"));
        let mut differences = 0;
        if !rust.is_empty() {
            for build in &self.builds {
                let folder = build.build(&root().join("tests/false-holds/runner/Cargo.toml"))?;
                let found = for_each(&rust, |program| {
                    explore(
                        checking(&folder.join("false-holds")).arg(program.stem()).env("UNPICK_TIME", TIME),
                    )
                })?;
                differences += self.tell(&build.to_string(), &rust, &found);
            }
        }
        if !c.is_empty() {
            let unpick = crate::shell::unpick()?;
            let folder = builds::folder("false-holds")?;
            for build in CBuild::all(&self.compilers, &self.levels)? {
                let found = for_each(&c, |program| {
                    let built = folder.join(format!("{}-{}-{}", program.stem(), build.compiler, build.level));
                    build.build(&unpick, &program.path, program.unseen().as_deref(), &built)?;
                    explore(checking(&unpick).args(["run", "--time", TIME, "--"]).arg(built))
                })?;
                differences += self.tell(&build.to_string(), &c, &found);
            }
        }
        match (programs.len(), differences) {
            (0, _) => Err(format!("no program has `{}` in its name", self.only)),
            (_, 0) => Ok(()),
            (_, count) => Err(format!("{count} verdicts are not what the files say")),
        }
    }

    /// Prints what was expected and what was found; how often they differ.
    fn tell(&self, build: &str, programs: &[&Program], found: &[Explored]) -> usize {
        let mut differences = 0;
        for (program, explored) in programs.iter().zip(found) {
            let same = explored.verdict == program.expected;
            let open = self.allow_inconclusive
                && program.expected == Verdict::Holds
                && matches!(explored.verdict, Verdict::Inconclusive(_));
            differences += usize::from(!same && !open);
            if !same || !self.short {
                let word = match (same, open) {
                    (true, _) => "ok",
                    (false, true) => "open",
                    (false, false) => "DIFFERS",
                };
                let line = explored.line.split("; ").next().unwrap_or_default();
                println!(
                    "{word:<8}{:<34}{build:<9} {:<27} {line}",
                    program.file,
                    program.expected.to_string()
                );
            }
        }
        println!("{build}: {differences} of {} verdicts are wrong", programs.len());
        differences
    }
}

/// The programs in a folder, in the order of their names.
fn load(folder: &Path) -> Result<Vec<Program>, Problem> {
    let problem = |error| format!("{}: {error}", folder.display());
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known =
            ["rs", "c", "cpp"].iter().any(|ending| path.extension().is_some_and(|own| own == *ending));
        if !known || file.ends_with(".unseen.c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        let first = text.lines().next().unwrap_or_default().trim_start_matches("//").trim_start_matches('!');
        let expected = Verdict::read(first).filter(|verdict| !matches!(verdict, Verdict::Failed(_)));
        let expected = expected.ok_or_else(|| format!("{file}: the first line says no verdict"))?;
        programs.push(Program { path, file, expected });
    }
    programs.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(programs)
}
