//! How programs are built: Rust with and without optimisation, C and C++ by each compiler at each level.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Problem;
use crate::shell::{cargo, exists, output, root, target};

/// How Rust is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RustBuild {
    /// Without optimisation, as tests are.
    Debug,
    /// With optimisation.
    Release,
    /// With optimisation of the whole program at once.
    Lto,
}

impl RustBuild {
    /// The name of the profile, and of the folder that cargo puts its programs in.
    fn profile(self) -> (&'static str, &'static str) {
        match self {
            RustBuild::Debug => ("dev", "debug"),
            RustBuild::Release => ("release", "release"),
            RustBuild::Lto => ("lto", "lto"),
        }
    }

    /// Builds the package with this manifest; where its programs are.
    pub(crate) fn build(self, manifest: &Path) -> Result<PathBuf, Problem> {
        let (profile, folder) = self.profile();
        // The workspace has fetched what is in its lock file.
        let lock = manifest.with_file_name("Cargo.lock");
        if !lock.exists() {
            let own = root().join("Cargo.lock");
            std::fs::copy(&own, &lock).map_err(|error| format!("{}: {error}", own.display()))?;
        }
        let into = target().join("loops");
        let mut command = cargo(["build", "--quiet", "--profile", profile, "--manifest-path"]);
        command.arg(manifest).arg("--target-dir").arg(&into);
        output(&mut command)?;
        Ok(into.join(folder))
    }
}

impl fmt::Display for RustBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile().1)
    }
}

/// How C is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CBuild {
    /// The C compiler; the one for C++ is found by its name.
    pub(crate) compiler: String,
    /// The level of optimisation, such as `O1`.
    pub(crate) level: String,
}

impl fmt::Display for CBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -{}", self.compiler, self.level)
    }
}

impl CBuild {
    /// Each of the compilers at each of the levels; if no compiler is named, those of gcc and clang that are there.
    pub(crate) fn all(compilers: &[String], levels: &[String]) -> Result<Vec<CBuild>, Problem> {
        if let Some(missing) = compilers.iter().find(|compiler| !exists(compiler)) {
            return Err(format!("there is no `{missing}`; install it, or name others with --compilers"));
        }
        let found = ["gcc", "clang"].into_iter().filter(|name| exists(name)).map(String::from);
        let compilers = if compilers.is_empty() { found.collect() } else { compilers.to_vec() };
        let each = compilers.iter().flat_map(|compiler| {
            levels.iter().map(|level| CBuild { compiler: compiler.clone(), level: level.clone() })
        });
        Ok(each.collect())
    }

    /// The compiler for a source, and how `unpick` calls its language.
    fn compiler_of(&self, source: &Path) -> (String, &'static str, &'static str) {
        if source.extension().is_some_and(|ending| ending == "cpp") {
            let name = self.compiler.replace("gcc", "g++").replace("clang", "clang++");
            return (name, "c++", "UNPICK_CXX");
        }
        (self.compiler.clone(), "cc", "UNPICK_CC")
    }

    /// Builds a program of a source, and of another one that the runtime is not to see into.
    pub(crate) fn build(
        &self,
        unpick: &Path,
        source: &Path,
        unseen: Option<&Path>,
        program: &Path,
    ) -> Result<(), Problem> {
        let level = format!("-{}", self.level);
        let (compiler, word, variable) = self.compiler_of(source);
        let mut command = Command::new(unpick);
        command.arg(word).env(variable, compiler).args([&level, "-g", "-pthread"]);
        if word == "c++" {
            // The language that compilers take by default differs.
            command.arg("-std=c++17");
        }
        command.arg(source);
        if let Some(unseen) = unseen {
            let object = program.with_extension("unseen.o");
            let (compiler, ..) = self.compiler_of(unseen);
            output(Command::new(compiler).args([&level, "-c"]).arg(unseen).arg("-o").arg(&object))?;
            command.arg(object);
        }
        output(command.arg("-o").arg(program)).map(|_| ())
    }
}

/// As [`folder`], with nothing in it.
pub(crate) fn empty_folder(name: &str) -> Result<PathBuf, Problem> {
    let folder = folder(name)?;
    let emptied = std::fs::remove_dir_all(&folder).and_then(|()| std::fs::create_dir(&folder));
    emptied.map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// A folder for what is built, which is made.
pub(crate) fn folder(name: &str) -> Result<PathBuf, Problem> {
    let folder = target().join("loops").join(name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}
