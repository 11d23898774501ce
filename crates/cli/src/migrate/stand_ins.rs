//! The stand-ins that there are, and which one cargo would take for a requirement.

use semver::{Op, Version, VersionReq};

/// A package that stands in for a version of another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StandIn {
    /// The package that it stands in for.
    pub(super) package: &'static str,
    /// The version that it says it has.
    pub(super) version: &'static str,
    /// Where it is, in unpick's sources.
    pub(super) folder: &'static str,
}

/// The stand-ins, the newest of each package first.
pub(super) const STAND_INS: [StandIn; 8] = [
    StandIn { package: "loom", version: "0.7.2", folder: "stand-ins/loom" },
    StandIn { package: "loom", version: "0.6.1", folder: "stand-ins/loom-0.6" },
    StandIn { package: "loom", version: "0.5.6", folder: "stand-ins/loom-0.5" },
    StandIn { package: "shuttle", version: "0.9.9", folder: "stand-ins/shuttle" },
    StandIn { package: "shuttle", version: "0.8.1", folder: "stand-ins/shuttle-0.8" },
    StandIn { package: "shuttle", version: "0.7.1", folder: "stand-ins/shuttle-0.7" },
    StandIn { package: "shuttle", version: "0.6.1", folder: "stand-ins/shuttle-0.6" },
    StandIn { package: "shuttle-engine", version: "0.1.7", folder: "stand-ins/shuttle-engine" },
];

/// What there is for a requirement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// This one; cargo takes it.
    Fits(&'static StandIn),
    /// This one has the same API, but the requirement is for other versions only.
    Pinned(&'static StandIn),
    /// None.
    Nothing,
}

impl StandIn {
    fn version(&self) -> Version {
        Version::parse(self.version).expect("the table has versions")
    }

    /// Whether it has the API of a version: the first part of the version that is not 0 says so.
    fn is_like(&self, major: u64, minor: Option<u64>) -> bool {
        let own = self.version();
        own.major == major && (major > 0 || minor == Some(own.minor))
    }
}

/// What there is for a package and a requirement.
pub(super) fn fit(package: &str, wanted: &VersionReq) -> Fit {
    let of_package = || STAND_INS.iter().filter(|known| known.package == package);
    if let Some(fitting) = of_package().find(|known| wanted.matches(&known.version())) {
        return Fit::Fits(fitting);
    }
    let exact = wanted.comparators.iter().filter(|part| !matches!(part.op, Op::Greater | Op::Less));
    let like =
        exact.into_iter().find_map(|part| of_package().find(|known| known.is_like(part.major, part.minor)));
    like.map_or(Fit::Nothing, Fit::Pinned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn folder(package: &str, wanted: &str) -> Result<&'static str, Option<&'static str>> {
        match fit(package, &VersionReq::parse(wanted).expect("a requirement")) {
            Fit::Fits(known) => Ok(known.folder),
            Fit::Pinned(known) => Err(Some(known.folder)),
            Fit::Nothing => Err(None),
        }
    }

    #[test]
    fn the_stand_in_of_the_version_is_named() {
        assert_eq!(folder("loom", "^0.7"), Ok("stand-ins/loom"));
        assert_eq!(folder("loom", "^0.6.0"), Ok("stand-ins/loom-0.6"));
        assert_eq!(folder("loom", "~0.5"), Ok("stand-ins/loom-0.5"));
        assert_eq!(folder("loom", ">=0.5, <0.7"), Ok("stand-ins/loom-0.6"));
        assert_eq!(folder("loom", "*"), Ok("stand-ins/loom"));
        assert_eq!(folder("loom", "=0.7.2"), Ok("stand-ins/loom"));
        assert_eq!(folder("shuttle", "^0.6"), Ok("stand-ins/shuttle-0.6"));
        assert_eq!(folder("shuttle", "^0.7.1"), Ok("stand-ins/shuttle-0.7"));
        assert_eq!(folder("shuttle", "^0.8"), Ok("stand-ins/shuttle-0.8"));
    }

    #[test]
    fn a_version_that_no_stand_in_has_is_pinned_or_not_there() {
        assert_eq!(folder("loom", "=0.7.1"), Err(Some("stand-ins/loom")));
        assert_eq!(folder("loom", "~0.7.0, <0.7.2"), Err(Some("stand-ins/loom")));
        assert_eq!(folder("loom", "^0.7.9"), Err(Some("stand-ins/loom")));
        assert_eq!(folder("shuttle", "=0.6.0"), Err(Some("stand-ins/shuttle-0.6")));
        assert_eq!(folder("loom", "^0.4"), Err(None));
        assert_eq!(folder("loom", "^1"), Err(None));
        assert_eq!(folder("loomy", "*"), Err(None));
    }

    /// The table is compared with what is there.
    #[test]
    fn every_stand_in_is_listed_with_its_version() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = 0;
        for entry in std::fs::read_dir(root.join("stand-ins")).expect("the stand-ins are there") {
            let folder = entry.expect("a folder").path();
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            let name = folder.file_name().map(|name| format!("stand-ins/{}", name.to_string_lossy()));
            let known = STAND_INS.iter().find(|known| Some(known.folder) == name.as_deref());
            let known = known.unwrap_or_else(|| panic!("{} is not listed", folder.display()));
            for line in [format!("name = {:?}", known.package), format!("version = {:?}", known.version)] {
                assert!(text.lines().any(|other| other == line), "{}: {line}", folder.display());
            }
            folders += 1;
        }
        assert_eq!(folders, STAND_INS.len());
    }
}
