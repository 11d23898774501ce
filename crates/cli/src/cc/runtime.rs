//! Builds the runtime for C and C++ programs: lets cargo do it, in a folder of its own.
//!
//! This file is part of the build script as well. An optimised command line carries the runtime with it, so that `cargo install` is
//! enough. One that is not optimised is for use in a clone: it has the runtime built when a program is first compiled, so that
//! whoever needs none does not wait for it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The package of the runtime, and the file that is made of it.
const PACKAGE: &str = "unpick-native";
pub(crate) const LIBRARY: &str = "libunpick_native.so";

/// Variables of an outer cargo that would change what the inner one builds.
const OUTER: [&str; 9] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_RELEASE_DEBUG",
];

/// How the runtime is optimised.
const PROFILE: &str = "\n[workspace]\n\n[profile.release]\nopt-level = 3\nstrip = \"debuginfo\"\n";

/// Where the runtime is built, of what.
pub(crate) struct Build<'a> {
    /// The folder of the package of the command line.
    pub(crate) own: &'a Path,
    /// Its version.
    pub(crate) version: &'a str,
    /// A folder for all that is written.
    pub(crate) folder: &'a Path,
    /// The cargo to call.
    pub(crate) cargo: OsString,
}

impl Build<'_> {
    /// The sources of the runtime next to the command line, if this is a clone.
    pub(crate) fn near(&self) -> Option<PathBuf> {
        let near = self.own.join("../native");
        near.join("Cargo.toml").is_file().then_some(near)
    }

    /// The runtime, if it was built before and nothing that it was built of is newer.
    pub(crate) fn fresh(&self) -> Option<PathBuf> {
        let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
        let built = changed(&self.stamp())?;
        let is_older = |path: &PathBuf| changed(path).is_some_and(|time: SystemTime| time <= built);
        let sources = self.sources();
        (!sources.is_empty() && sources.iter().all(is_older)).then(|| self.library())
    }

    /// Builds the runtime of its sources, unless another process has just done so. `begins` is called if it is built.
    pub(crate) fn run(&self, begins: impl FnOnce()) -> Result<PathBuf, String> {
        let package = self.folder.join("runtime");
        let unwritable = |error: std::io::Error| format!("{} cannot be written: {error}", package.display());
        fs::create_dir_all(package.join("src")).map_err(unwritable)?;
        // Compilers run side by side. The lock is given back when the file is closed.
        let lock = fs::File::create(self.folder.join("lock")).map_err(unwritable)?;
        lock.lock().map_err(unwritable)?;
        if let Some(library) = self.fresh() {
            return Ok(library);
        }
        begins();
        // What changes while it is built is not in it.
        let began = self.folder.join("began");
        fs::write(&began, "").map_err(unwritable)?;
        let manifest = match self.near() {
            Some(near) => manifest_near(&near),
            None => self.manifest_within()?,
        };
        put(&package.join("Cargo.toml"), manifest.as_bytes()).map_err(unwritable)?;
        put(&package.join("src/lib.rs"), b"").map_err(unwritable)?;
        // Everything that the runtime needs, the command line needs as well, so it is here already. In the same versions, if
        // they are known; else in those that are here. A network is the last resort.
        let locks = [self.own.join("../../Cargo.lock"), self.own.join("Cargo.lock")];
        let lock = locks.iter().find(|lock| lock.is_file());
        let kept = package.join("Cargo.lock");
        let mut built = false;
        for (lock, offline) in [(lock, true), (None, true), (lock, false)] {
            match lock {
                Some(lock) => drop(fs::copy(lock, &kept).map_err(unwritable)?),
                // It may not be there.
                None => drop(fs::remove_file(&kept)),
            }
            built = self.build(&package, offline)?;
            if built {
                break;
            }
        }
        if !built {
            return Err(String::from("cargo could not build it, and has said why"));
        }
        fs::rename(&began, self.stamp()).map_err(unwritable)?;
        Ok(self.library())
    }

    /// What the runtime was built of: the sources that cargo has noted, and manifests.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let notes = self.library().with_extension("d");
        let text = fs::read_to_string(notes).unwrap_or_default();
        let sources = text.split_once(": ").map(|(_, sources)| sources).unwrap_or_default();
        let paths = sources.replace("\\ ", "\0");
        let paths = paths.split_whitespace().map(|source| PathBuf::from(source.replace('\0', " ")));
        paths.chain(self.near().map(|near| near.join("Cargo.toml"))).collect()
    }

    fn library(&self) -> PathBuf {
        self.folder.join("target/release").join(LIBRARY)
    }

    /// A file that is as old as the runtime.
    fn stamp(&self) -> PathBuf {
        self.folder.join("built")
    }

    /// A package of the sources of the runtime that are part of this one, as it is published.
    fn manifest_within(&self) -> Result<String, String> {
        let folder = self.own.join("runtime");
        let path = folder.join("manifest.toml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let version = self.version;
        let lines = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
        let needed = lines.take_while(|line| !line.starts_with('[')).map(|line| {
            // Packages of the workspace are all published in one version.
            line.replace(".workspace = true", &format!(" = \"={version}\"")) + "\n"
        });
        let root = folder.join("src/lib.rs");
        Ok(format!(
            "[package]\nname = {PACKAGE:?}\nversion = {version:?}\nedition = \"2024\"\n\n\
             [lib]\npath = {root:?}\ncrate-type = [\"cdylib\"]\n\n[dependencies]\n{}{PROFILE}",
            needed.collect::<String>()
        ))
    }

    /// Lets cargo build the runtime; whether it did.
    fn build(&self, package: &Path, offline: bool) -> Result<bool, String> {
        let mut cargo = Command::new(&self.cargo);
        cargo.args(["build", "--release", "--package", PACKAGE, "--manifest-path"]);
        cargo.arg(package.join("Cargo.toml")).arg("--target-dir").arg(self.folder.join("target"));
        if offline {
            cargo.arg("--offline");
        }
        OUTER.iter().for_each(|name| {
            cargo.env_remove(name);
        });
        let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
        Ok(status.success())
    }
}

/// A package that has the runtime next to this one among its dependencies, so that cargo builds the runtime alone.
fn manifest_near(near: &Path) -> String {
    format!(
        "[package]\nname = \"runtime-for-unpick\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{PACKAGE} = {{ path = {near:?} }}\n{PROFILE}"
    )
}

/// Writes a file if it would change.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if fs::read(path).ok().as_deref() == Some(bytes) { Ok(()) } else { fs::write(path, bytes) }
}
