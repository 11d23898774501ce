//! Decides how the command line comes by the runtime for C and C++ programs.
//!
//! The runtime is a shared library that stands in for parts of the system's, so the command line must not link it. Cargo has no
//! stable way to depend on such a file. So an optimised command line, which is what `cargo install` makes, has it built here, and
//! carries it: from the sources next to this package if they are there, and if not, from the copy of them that a published package
//! has in `runtime`. One that is not optimised has it built when it is first needed, if the sources are there.
//!
//! A runtime that was built before is taken from `UNPICK_BUILT_RUNTIME`.

#[path = "src/cc/runtime.rs"]
mod runtime;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use runtime::{Build, LIBRARY};

fn main() {
    println!("cargo::rerun-if-env-changed=UNPICK_BUILT_RUNTIME");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/cc/runtime.rs");
    let out = PathBuf::from(variable("OUT_DIR"));
    let optimised = variable("PROFILE") == "release";
    let linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    let supported = linux
        && variable("CARGO_CFG_TARGET_ARCH") == "x86_64"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        // The documentation is built without a network, and runs nothing.
        && env::var_os("DOCS_RS").is_none();
    // All builds of a clone share the folder: target/profile/build/package/out.
    let target = out.ancestors().nth(4).unwrap_or(&out);
    let build = Build {
        own: &PathBuf::from(variable("CARGO_MANIFEST_DIR")),
        version: &variable("CARGO_PKG_VERSION"),
        folder: &target.join("unpick-runtime"),
        cargo: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
    };
    let later = supported && !optimised && build.near().is_some();
    let given = env::var_os("UNPICK_BUILT_RUNTIME");
    let bytes = match &given {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", Path::new(path).display());
            fs::read(path).unwrap_or_else(|error| panic!("UNPICK_BUILT_RUNTIME={path:?}: {error}"))
        }
        None if supported && !later => built(&build),
        None => Vec::new(),
    };
    let folder = if later && given.is_none() { build.folder } else { Path::new("") };
    println!("cargo::rustc-env=UNPICK_RUNTIME_FOLDER={}", folder.display());
    if optimised && linux {
        // Symbols tell those who debug the command line something, and nobody else.
        println!("cargo::rustc-link-arg-bins=-s");
    }
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

/// The runtime, from its sources, which are built again when they change.
fn built(build: &Build<'_>) -> Vec<u8> {
    let library = build.run(|| {});
    let library =
        library.unwrap_or_else(|problem| panic!("the runtime for C and C++ does not build: {problem}"));
    for source in build.sources() {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    fs::read(&library).unwrap_or_else(|error| panic!("{}: {error}", library.display()))
}

/// A number that stands for bytes (FNV-1a, 128 bits).
fn number(bytes: &[u8]) -> u128 {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    bytes
        .iter()
        .fold(start, |sum, byte| (sum ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b))
}
