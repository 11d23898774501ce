//! `unpick migrate --check` on crates with manifests: which versions they ask for, and what cargo makes of a patch.

use std::path::{Path, PathBuf};

use crate::unpick;

/// A folder with files, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = std::env::temp_dir().join(format!("unpick-migrate-{name}-{}", std::process::id()));
        let folder = Folder(folder);
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    fn check(&self) -> (Option<i32>, String) {
        let (code, out, err) = unpick(&["migrate", "--check", &self.0.display().to_string()]);
        (code, out + &err)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stand_in(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stand-ins");
    root.join(name).display().to_string()
}

/// The lines of a manifest, with a workspace of its own.
fn package(rest: &str) -> String {
    format!("[package]\nname = \"queue\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n{rest}\n")
}

const REGISTRY: &str = "version = 4\n\n[[package]]\nname = \"loom\"\nversion = \"0.7.1\"\n\
                        source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";

#[test]
fn dependencies_are_found_however_they_are_written() {
    let folder = Folder::new(
        "workspace",
        &[
            (
                "Cargo.toml",
                "[workspace]\nresolver = \"2\"\nmembers = [\"one\", \"two\"]\n\
                 [workspace.dependencies]\nold = { package = \"loom\", version = \"0.6\" }\nshuttle = \"0.7\"\n",
            ),
            (
                "one/Cargo.toml",
                "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                 [target.'cfg(loom)'.dependencies]\nold = { workspace = true, features = [\"futures\"] }\n\
                 [dev-dependencies]\nshuttle.workspace = true\n",
            ),
            (
                "one/src/lib.rs",
                "#[cfg(loom)]\nuse old::sync::Notify;\nuse shuttle::{check_pct, thread::park};\n",
            ),
            (
                "two/Cargo.toml",
                "[package]\nname = \"two\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                 [dependencies]\nmodel-checker = { package = \"loom\", version = \"=0.7.1\", optional = true }\n\
                 [dependencies.loom]\npackage = \"something-else\"\nversion = \"1\"\noptional = true\n",
            ),
            ("two/src/lib.rs", "use model_checker::sync::Arc;\n"),
        ],
    );
    let (code, out) = folder.check();
    // The pinned version is nobody's.
    assert_eq!(code, Some(1), "{out}");
    for text in [
        "one asks for loom ^0.6 as old, for cfg(loom): stand-ins/loom-0.6 fits",
        "one asks for shuttle ^0.7: stand-ins/shuttle-0.7 fits",
        "two asks for loom =0.7.1 as model-checker: NO STAND-IN HAS THIS VERSION",
        "model-checker = { package = \"unpick-loom\"",
        "sync::Notify",
        "sync::Arc",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
}

#[test]
fn a_patch_that_is_not_used_is_noticed() {
    let folder = Folder::new("patch", &[("src/lib.rs", "pub use loom::sync::Arc;\n")]);
    let patch = |name: &str| format!("[patch.crates-io]\nloom = {{ path = {:?} }}\n", stand_in(name));
    // For another version.
    folder.write("Cargo.toml", &package(&format!("[dependencies]\nloom = \"0.6\"\n{}", patch("loom"))));
    let (code, out) = folder.check();
    assert!(code == Some(1) && out.contains("the patch has version 0.7.2"), "{out}");
    folder.write("Cargo.toml", &package(&format!("[dependencies]\nloom = \"0.6\"\n{}", patch("loom-0.6"))));
    let (code, out) = folder.check();
    assert!(code == Some(0) && out.contains("stand-ins/loom-0.6 fits, and there is a patch"), "{out}");
    // The lock file holds another version than the stand-in's.
    folder.write("Cargo.toml", &package(&format!("[dependencies]\nloom = \"0.7\"\n{}", patch("loom"))));
    folder.write("Cargo.lock", REGISTRY);
    let (code, out) = folder.check();
    assert!(code == Some(1) && out.contains("Cargo.lock holds loom 0.7.1 of the registry"), "{out}");
    assert!(out.contains("cargo update -p loom") && out.contains("--locked"), "{out}");
    // Cargo has said so itself.
    let unused = format!("{REGISTRY}\n[[patch.unused]]\nname = \"loom\"\nversion = \"0.7.2\"\n");
    folder.write("Cargo.lock", &unused);
    let (code, out) = folder.check();
    assert!(code == Some(1) && out.contains("the patch loom 0.7.2 is not used"), "{out}");
    // All is well.
    folder.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"loom\"\nversion = \"0.7.2\"\n");
    let (code, out) = folder.check();
    assert!(code == Some(0) && out.contains("a stand-in is used, loom 0.7.2"), "{out}");
    // A configuration may have the patch, too.
    folder.write("Cargo.toml", &package("[dependencies]\nloom = \"0.5\"\n"));
    folder.write(".cargo/config.toml", &patch("loom"));
    folder.write("Cargo.lock", "version = 4\n");
    let (code, out) = folder.check();
    assert!(
        code == Some(1) && out.contains("the patch has version 0.7.2") && out.contains("loom-0.5"),
        "{out}"
    );
}

#[test]
fn a_manifest_that_cargo_does_not_understand_is_told() {
    let folder = Folder::new("broken", &[("Cargo.toml", "[package]\nname = 3\n"), ("src/lib.rs", "")]);
    let (code, out) = folder.check();
    assert!(code == Some(1) && out.contains("not understood: Cargo.toml"), "{out}");
}
