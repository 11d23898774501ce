//! Builds the runtime for C and C++ programs, which the command line carries with it.
//!
//! The runtime is a shared library that stands in for parts of the system's, so the command line must not link it. Cargo has no
//! stable way to depend on such a file, so this script lets cargo build it, in a folder of its own: from the sources
//! next to this package if they are there, and if not, from the copy of them that a published package has in `runtime`.
//!
//! A runtime that was built before is taken from `UNPICK_BUILT_RUNTIME`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of the runtime, and the file that is made of it.
const PACKAGE: &str = "unpick-native";
const LIBRARY: &str = "libunpick_native.so";

/// Variables of the outer cargo that would change what the inner one builds.
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

fn main() {
    println!("cargo::rerun-if-env-changed=UNPICK_BUILT_RUNTIME");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(variable("OUT_DIR"));
    let supported = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ARCH") == "x86_64"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let bytes = match env::var_os("UNPICK_BUILT_RUNTIME") {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", Path::new(&path).display());
            fs::read(&path).unwrap_or_else(|error| panic!("UNPICK_BUILT_RUNTIME={path:?}: {error}"))
        }
        // The documentation is built without a network, and runs nothing.
        None if supported && env::var_os("DOCS_RS").is_none() => built(&out),
        None => Vec::new(),
    };
    let mut kit = bytes.clone();
    // With what unpacks it, so that another layout is another kit.
    for part in ["include/unpick.h", "include/genmc.h", "include/c++/mutex", "src/cc/kit.rs"] {
        println!("cargo::rerun-if-changed={part}");
        kit.extend(fs::read(part).unwrap_or_else(|error| panic!("{part}: {error}")));
    }
    fs::write(out.join(LIBRARY), bytes).expect("the folder for results can be written");
    println!("cargo::rustc-env=UNPICK_KIT={}-{:032x}", variable("CARGO_PKG_VERSION"), number(&kit));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// The runtime, from its sources.
fn built(out: &Path) -> Vec<u8> {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let near = own.join("../native");
    let package = out.join("runtime");
    fs::create_dir_all(package.join("src")).expect("the folder for results can be written");
    let manifest =
        if near.join("Cargo.toml").is_file() { manifest_near(&near) } else { manifest_within(&own) };
    put(&package.join("Cargo.toml"), manifest.as_bytes());
    put(&package.join("src/lib.rs"), b"");
    let target = out.join("target");
    // Everything that the runtime needs, the command line needs as well, so it is here already. In the same versions, if
    // they are known; else in those that are here. A network is the last resort.
    let locks = [own.join("../../Cargo.lock"), own.join("Cargo.lock")];
    let lock = locks.iter().find(|lock| lock.is_file());
    let kept = package.join("Cargo.lock");
    let attempts = [(lock, true), (None, true), (lock, false)];
    let built = attempts.into_iter().any(|(lock, offline)| {
        match lock {
            Some(lock) => drop(fs::copy(lock, &kept).expect("the folder for results can be written")),
            // It may not be there.
            None => drop(fs::remove_file(&kept)),
        }
        build(&package, &target, offline)
    });
    assert!(built, "the runtime for C and C++ does not build; what cargo says is above");
    let release = target.join("release");
    watch(&release.join("libunpick_native.d"), &near);
    let library = release.join(LIBRARY);
    fs::read(&library).unwrap_or_else(|error| panic!("{}: {error}", library.display()))
}

/// How the runtime is optimised.
const PROFILE: &str = "\n[workspace]\n\n[profile.release]\nopt-level = 3\nstrip = \"debuginfo\"\n";

/// A package that has the runtime next to this one among its dependencies, so that cargo builds the runtime alone.
fn manifest_near(near: &Path) -> String {
    format!(
        "[package]\nname = \"runtime-for-unpick\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{PACKAGE} = {{ path = {near:?} }}\n{PROFILE}"
    )
}

/// A package of the sources of the runtime that are part of this one, as it is published.
fn manifest_within(own: &Path) -> String {
    let folder = own.join("runtime");
    let path = folder.join("manifest.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let version = variable("CARGO_PKG_VERSION");
    let lines = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let needed = lines.take_while(|line| !line.starts_with('[')).map(|line| {
        // Packages of the workspace are all published in one version.
        line.replace(".workspace = true", &format!(" = \"={version}\"")) + "\n"
    });
    let root = folder.join("src/lib.rs");
    format!(
        "[package]\nname = {PACKAGE:?}\nversion = {version:?}\nedition = \"2024\"\n\n\
         [lib]\npath = {root:?}\ncrate-type = [\"cdylib\"]\n\n[dependencies]\n{}{PROFILE}",
        needed.collect::<String>()
    )
}

/// Lets cargo build the runtime; whether it did.
fn build(package: &Path, target: &Path, offline: bool) -> bool {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--release", "--package", PACKAGE, "--manifest-path"])
        .arg(package.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target);
    if offline {
        cargo.arg("--offline");
    }
    OUTER.iter().for_each(|name| {
        cargo.env_remove(name);
    });
    cargo.status().unwrap_or_else(|error| panic!("cargo cannot be started: {error}")).success()
}

/// Writes a file if it would change.
fn put(path: &Path, bytes: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::write(path, bytes).expect("the folder for results can be written");
    }
}

/// Says which sources the runtime was built of: those that cargo has noted.
fn watch(notes: &Path, near: &Path) {
    let text = fs::read_to_string(notes).unwrap_or_default();
    let sources = text.split_once(": ").map(|(_, sources)| sources).unwrap_or_default();
    for source in sources.replace("\\ ", "\0").split_whitespace() {
        println!("cargo::rerun-if-changed={}", source.replace('\0', " "));
    }
    if near.is_dir() {
        println!("cargo::rerun-if-changed={}", near.join("Cargo.toml").display());
    }
}

/// A number that stands for bytes (FNV-1a, 128 bits).
fn number(bytes: &[u8]) -> u128 {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    bytes
        .iter()
        .fold(start, |sum, byte| (sum ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b))
}
