//! What manifests ask for: dependencies on loom and Shuttle, and patches of them.
//!
//! Cargo reads the manifests, so that dependencies are seen that are renamed, inherited from a workspace, or of a target. It is
//! not asked to resolve anything, which would change the lock file. Of patches it says nothing; they are looked
//! for in the text, which may be laid out in any of cargo's ways.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use semver::VersionReq;
use serde_json::Value;

use super::lock::{Locked, locked};
use super::scope::Crates;
use super::stand_ins::STAND_INS;

/// A dependency on something that there are stand-ins for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) package: String,
    pub(super) wanted: VersionReq,
    /// The name that it has in the package, if that is another.
    pub(super) alias: Option<String>,
    /// The condition of `[target.'…'.dependencies]`.
    pub(super) target: Option<String>,
    /// Whether it comes from a registry.
    pub(super) is_published: bool,
    /// The package that asks.
    pub(super) by: String,
}

/// A patch of something that there are stand-ins for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) package: String,
    /// The version of what is put in its place, if that can be read.
    pub(super) version: Option<String>,
}

/// What is known of the packages in a folder.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    pub(super) asked: Vec<Asked>,
    pub(super) patches: Vec<Patch>,
    pub(super) locked: Vec<Locked>,
    /// Where flags of the compiler may be: variables of the environment, and configurations.
    pub(super) flags: String,
    /// The names of tools in the sources.
    pub(super) crates: Crates,
}

impl Manifests {
    /// What is known without a manifest.
    pub(super) fn none() -> Manifests {
        let crates = ["loom", "shuttle"].map(|tool| (String::from(tool), tool)).into();
        Manifests { crates, ..Manifests::default() }
    }

    /// What the manifest in a folder says, and the manifests of packages below it.
    pub(super) fn read(folder: &Path) -> Result<Manifests, String> {
        let manifest = folder.join("Cargo.toml");
        if !manifest.exists() {
            return Ok(Manifests::none());
        }
        Manifests::ask([OsStr::new("--manifest-path"), manifest.as_os_str()], Some(folder))
    }

    /// Asks cargo. `folder`: only of packages that are there.
    pub(super) fn ask<'a>(
        arguments: impl IntoIterator<Item = &'a OsStr>,
        folder: Option<&Path>,
    ) -> Result<Manifests, String> {
        let mut command = Command::new(crate::cargo::program());
        command.args(["metadata", "--no-deps", "--format-version", "1"]).args(arguments);
        let asked = command.output().map_err(|problem| format!("cargo cannot be started: {problem}"))?;
        if !asked.status.success() {
            return Err(String::from_utf8_lossy(&asked.stderr).trim().replace('\n', " "));
        }
        let metadata: Value = serde_json::from_slice(&asked.stdout).map_err(|problem| problem.to_string())?;
        let mut all = Manifests::none();
        let within = folder.and_then(|folder| folder.canonicalize().ok());
        for package in array(&metadata["packages"]) {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
            if within.as_ref().is_none_or(|folder| manifest.starts_with(folder)) {
                all.add(package);
            }
        }
        let root = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
        for file in ["Cargo.toml", ".cargo/config.toml", ".cargo/config"] {
            let path = root.join(file);
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            // Paths in a configuration start where its folder is.
            let start = if file == "Cargo.toml" {
                &root
            } else {
                path.parent().and_then(Path::parent).unwrap_or(&root)
            };
            all.patches.extend(patches(&text, start));
            all.flags += if file == "Cargo.toml" { "" } else { &text };
        }
        let variables =
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"].map(|name| std::env::var(name).unwrap_or_default());
        all.flags += &variables.concat();
        all.locked = locked(&std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default());
        Ok(all)
    }

    fn add(&mut self, package: &Value) {
        let by = package["name"].as_str().unwrap_or_default();
        for dependency in array(&package["dependencies"]) {
            let text = |key: &str| dependency[key].as_str().map(String::from);
            let Some(name) = text("name") else { continue };
            let alias = text("rename");
            let known = alias.as_ref().unwrap_or(&name).replace('-', "_");
            let tool = ["loom", "shuttle"]
                .into_iter()
                .find(|tool| name == *tool || name == format!("unpick-{tool}"));
            match tool {
                Some(tool) => drop(self.crates.insert(known, tool)),
                // Something else has this name here.
                None if alias.is_some() => drop(self.crates.remove(&known)),
                None => {}
            }
            if !STAND_INS.iter().any(|known| known.package == name) {
                continue;
            }
            let wanted = text("req").and_then(|req| VersionReq::parse(&req).ok()).unwrap_or(VersionReq::STAR);
            let is_published = text("source").is_some_and(|source| source.starts_with("registry+"));
            let target = text("target");
            let asked = Asked { package: name, wanted, alias, target, is_published, by: String::from(by) };
            // The same for tests is no more.
            if !self.asked.contains(&asked) {
                self.asked.push(asked);
            }
        }
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The patches of crates.io in a manifest or configuration: `[patch.crates-io]` with lines such as `loom = { path = "…" }`, or
/// `[patch.crates-io.loom]` with the lines of that table.
fn patches(text: &str, start: &Path) -> Vec<Patch> {
    let mut tables: Vec<(String, String)> = Vec::new();
    let (mut in_patches, mut open) = (false, false);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            let header: String =
                header.chars().filter(|letter| !matches!(letter, '"' | '\'' | ' ')).collect();
            let below = header.strip_prefix("patch.").filter(|rest| rest.contains("crates"));
            let table = below.and_then(|rest| {
                rest.strip_prefix("crates-io.")
                    .or(rest.strip_prefix("https://github.com/rust-lang/crates.io-index."))
            });
            (in_patches, open) = (below.is_some() && table.is_none(), table.is_some());
            tables.extend(table.map(|name| (String::from(name), String::new())));
        } else if in_patches && let Some((key, value)) = line.split_once('=') {
            // `loom.path = "…"` is `loom = { path = "…" }`.
            let (name, rest) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
            tables.push((name.trim_matches('"').to_string(), format!("{rest} = {value}")));
        } else if let (true, Some((_, lines))) = (open, tables.last_mut()) {
            *lines += line;
            lines.push(',');
        }
    }
    let patches = tables.into_iter().map(|(key, lines)| {
        let path = string(&lines, "path");
        let version = path.and_then(|path| {
            let manifest = std::fs::read_to_string(start.join(path).join("Cargo.toml")).ok()?;
            let own = manifest.lines().find(|line| line.starts_with("version"))?;
            string(own, "version")
        });
        Patch { package: string(&lines, "package").unwrap_or(key), version }
    });
    patches.filter(|patch| STAND_INS.iter().any(|known| known.package == patch.package)).collect()
}

/// The string that is the value of a key.
fn string(text: &str, key: &str) -> Option<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    text.match_indices(key).find_map(|(at, _)| {
        let alone = !text[..at].ends_with(is_word);
        let value = text[at + key.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|first| alone && matches!(first, '"' | '\''))?;
        value[1..].split(quote).next().map(String::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_found_however_they_are_written() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let found = |text: &str| {
            let found = patches(text, &root).into_iter();
            found.map(|patch| (patch.package, patch.version.unwrap_or_default())).collect::<Vec<_>>()
        };
        let one = |package: &str, version: &str| vec![(String::from(package), String::from(version))];
        for text in [
            "[patch.crates-io]\nloom = { path = \"stand-ins/loom-0.6\" }\n[dependencies]\nshuttle = \"1\"",
            "[patch.crates-io]\nold = { package = \"loom\", path = 'stand-ins/loom-0.6' }",
            "[patch.crates-io]\n# loom 0.6\nloom.path = \"stand-ins/loom-0.6\"",
            "[patch.\"crates-io\".loom]\npath = \"stand-ins/loom-0.6\"\n",
            "[patch.'https://github.com/rust-lang/crates.io-index']\nloom = { path = \"stand-ins/loom-0.6\" }",
        ] {
            assert_eq!(found(text), one("loom", "0.6.1"), "{text}");
        }
        assert_eq!(found("[patch.crates-io]\nshuttle = { git = \"https://a.b/c\" }"), one("shuttle", ""));
        assert_eq!(
            found("[dependencies]\nloom = { path = \"stand-ins/loom\" }\n[patch.crates-io]\nrand = \"1\""),
            []
        );
    }
}
