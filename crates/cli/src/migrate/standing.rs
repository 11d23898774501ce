//! Whether a stand-in takes the place of what manifests ask for.

use semver::{Version, VersionReq};

use super::lock::{Locked, Source};
use super::manifests::{Asked, Manifests};
use super::stand_ins::{Fit, StandIn, fit};

impl Manifests {
    /// What there is to say of each dependency, and whether a stand-in can take its place, or has.
    pub(super) fn standing(&self) -> (Vec<String>, bool) {
        let (mut lines, mut fine) = (Vec::new(), true);
        for asked in self.asked.iter().filter(|asked| asked.is_published) {
            let (text, fits) = self.judge(asked);
            fine &= fits;
            lines.push(format!("  {}: {text}", told(asked)));
        }
        for unused in self.unused() {
            fine = false;
            lines.push(format!("  {unused}"));
        }
        (lines, fine)
    }

    /// What somebody should know who has run tests: those that use a registry's loom or Shuttle are not checked by unpick.
    pub(super) fn unchecked(&self) -> Vec<String> {
        let published = self.asked.iter().filter(|asked| asked.is_published && self.is_built(asked));
        let not_ours = published.filter_map(|asked| {
            let used = self.used(asked, Source::Registry)?;
            Some(format!("Cargo.lock has {} {} of the registry, and no stand-in", used.package, used.version))
        });
        let mut all: Vec<String> = not_ours.chain(self.unused()).collect();
        all.sort();
        all.dedup();
        all
    }

    fn judge(&self, asked: &Asked) -> (String, bool) {
        let fits = match fit(&asked.package, &asked.wanted) {
            Fit::Fits(known) => known,
            Fit::Pinned(known) => return (pinned(asked, known), false),
            Fit::Nothing => {
                let text = format!(
                    "there is no stand-in for this version of {}; ask for a later one",
                    asked.package
                );
                return (text, false);
            }
        };
        if let Some(used) = self.used(asked, Source::Folder) {
            return (format!("a stand-in is used, {} {}", used.package, used.version), true);
        }
        let patch = self.patches.iter().find(|patch| patch.package == asked.package);
        let other = patch
            .and_then(|patch| patch.version.as_deref())
            .filter(|version| !matches(&asked.wanted, version));
        let key = asked.package.as_str();
        match (patch, other, self.used(asked, Source::Registry)) {
            (_, Some(version), _) if !self.has_fitting_patch(asked) => (
                format!(
                    "NOT PATCHED: the patch has version {version}, and cargo leaves it aside; use {}",
                    fits.folder
                ),
                false,
            ),
            (Some(_), _, Some(used)) => (
                format!(
                    "NOT PATCHED: Cargo.lock holds {key} {} of the registry, so that cargo may leave the patch aside: run \
                     `cargo update -p {key}` (with --locked, cargo takes what the lock file says)",
                    used.version
                ),
                false,
            ),
            (Some(_), ..) => (format!("{} fits, and there is a patch", fits.folder), true),
            (None, _, used) => {
                let update = used.filter(|used| used.version != fits.version).map(|used| {
                    format!("; Cargo.lock holds {}: run `cargo update -p {key}` with the patch, and without --locked", used.version)
                });
                let text = format!(
                    "{} fits: [patch.crates-io] {key} = {{ path = \"…/{}\" }}",
                    fits.folder, fits.folder
                );
                (text + &update.unwrap_or_default(), true)
            }
        }
    }

    /// Whether a dependency is one of the build, as far as that depends on a flag with the name of the tool.
    fn is_built(&self, asked: &Asked) -> bool {
        let needs = asked.target.as_ref().is_some_and(|target| target.contains(&asked.package));
        !needs || self.flags.contains(&asked.package)
    }

    fn has_fitting_patch(&self, asked: &Asked) -> bool {
        let mut own = self.patches.iter().filter(|patch| patch.package == asked.package);
        own.any(|patch| patch.version.as_deref().is_none_or(|version| matches(&asked.wanted, version)))
    }

    /// What the lock file has for a dependency from some source.
    fn used(&self, asked: &Asked, source: Source) -> Option<&Locked> {
        let is_it = |locked: &&Locked| {
            locked.package == asked.package
                && locked.source == source
                && matches(&asked.wanted, &locked.version)
        };
        self.locked.iter().find(is_it)
    }

    /// Patches that the lock file calls unused.
    fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.locked.iter().filter(|locked| locked.source == Source::Unused);
        unused.map(|patch| {
            format!(
                "Cargo.lock says that the patch {} {} is not used: no package asks for this version",
                patch.package, patch.version
            )
        })
    }
}

fn matches(wanted: &VersionReq, version: &str) -> bool {
    Version::parse(version).is_ok_and(|version| wanted.matches(&version))
}

/// A dependency, as a reader knows it.
fn told(asked: &Asked) -> String {
    let alias = asked.alias.as_ref().map(|alias| format!(" as {alias}")).unwrap_or_default();
    let target = asked.target.as_ref().map(|target| format!(", for {target}")).unwrap_or_default();
    format!("{} asks for {} {}{alias}{target}", asked.by, asked.package, asked.wanted)
}

fn pinned(asked: &Asked, known: &StandIn) -> String {
    let name = asked.alias.as_deref().unwrap_or(&asked.package);
    let ours = match asked.package.as_str() {
        "loom" => format!(", or by its name: {name} = {{ package = \"unpick-loom\", … }}"),
        _ => String::new(),
    };
    format!(
        "NO STAND-IN HAS THIS VERSION, and cargo takes a patch for no other: ask for one that {} ({}) fits{ours}",
        known.folder, known.version
    )
}

#[cfg(test)]
mod tests {
    use super::super::lock::locked;
    use super::super::manifests::Patch;
    use super::*;

    fn manifests(wanted: &str, patch: Option<&str>, lock: &str) -> Manifests {
        let asked = Asked {
            package: String::from("loom"),
            wanted: VersionReq::parse(wanted).expect("a requirement"),
            alias: Some(String::from("my_loom")),
            target: Some(String::from("cfg(loom)")),
            is_published: true,
            by: String::from("queue"),
        };
        let patch =
            patch.map(|version| Patch { package: String::from("loom"), version: Some(version.to_string()) });
        Manifests {
            asked: vec![asked],
            patches: patch.into_iter().collect(),
            locked: locked(lock),
            ..Manifests::none()
        }
    }

    const REGISTRY: &str =
        "[[package]]\nname = \"loom\"\nversion = \"0.7.1\"\nsource = \"registry+https://x\"\n";

    #[test]
    fn the_stand_in_that_fits_is_named_with_the_dependency() {
        let (lines, fine) = manifests("^0.6", None, "").standing();
        assert!(fine && lines[0].contains("queue asks for loom ^0.6 as my_loom, for cfg(loom)"), "{lines:?}");
        assert!(lines[0].contains("loom = { path = \"…/stand-ins/loom-0.6\" }"), "{lines:?}");
        let (lines, fine) = manifests("^0.7", None, REGISTRY).standing();
        assert!(fine && lines[0].contains("Cargo.lock holds 0.7.1: run `cargo update -p loom`"), "{lines:?}");
    }

    #[test]
    fn a_patch_that_cargo_leaves_aside_is_told() {
        let (lines, fine) = manifests("^0.6", Some("0.7.2"), "").standing();
        assert!(!fine && lines[0].contains("the patch has version 0.7.2"), "{lines:?}");
        let (lines, fine) = manifests("^0.7", Some("0.7.2"), REGISTRY).standing();
        assert!(
            !fine && lines[0].contains("Cargo.lock holds loom 0.7.1") && lines[0].contains("--locked"),
            "{lines:?}"
        );
        let unused = format!("{REGISTRY}\n[[patch.unused]]\nname = \"loom\"\nversion = \"0.7.2\"\n");
        let (lines, fine) = manifests("^0.7", None, &unused).standing();
        assert!(!fine && lines[1].contains("the patch loom 0.7.2 is not used"), "{lines:?}");
        let (lines, fine) = manifests("=0.7.1", Some("0.7.2"), "").standing();
        assert!(!fine && lines[0].contains("NO STAND-IN HAS THIS VERSION"), "{lines:?}");
        assert!(lines[0].contains("my_loom = { package = \"unpick-loom\""), "{lines:?}");
        let (lines, fine) = manifests("^0.3", None, "").standing();
        assert!(!fine && lines[0].contains("there is no stand-in"), "{lines:?}");
    }

    #[test]
    fn a_stand_in_that_is_used_is_told() {
        let (lines, fine) =
            manifests("^0.7", Some("0.7.2"), "[[package]]\nname = \"loom\"\nversion = \"0.7.2\"\n")
                .standing();
        assert!(fine && lines[0].contains("a stand-in is used, loom 0.7.2"), "{lines:?}");
        assert!(
            manifests("^0.7", None, "[[package]]\nname = \"loom\"\nversion = \"0.7.2\"\n")
                .unchecked()
                .is_empty()
        );
        // Without the flag it is not built.
        let mut registry = manifests("^0.7", None, REGISTRY);
        registry.flags.clear();
        assert!(registry.unchecked().is_empty());
        registry.flags.push_str("--cfg loom");
        assert_eq!(registry.unchecked(), ["Cargo.lock has loom 0.7.1 of the registry, and no stand-in"]);
    }
}
