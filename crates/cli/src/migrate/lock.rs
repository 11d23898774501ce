//! What `Cargo.lock` says of packages that there are stand-ins for.

use super::stand_ins::STAND_INS;

/// Where a package is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// From a registry.
    Registry,
    /// From a folder, as a stand-in.
    Folder,
    /// From elsewhere, such as a repository.
    Elsewhere,
    /// Not at all: it is a patch that is not used.
    Unused,
}

/// A package of the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Locked {
    pub(super) package: String,
    pub(super) version: String,
    pub(super) source: Source,
}

/// The packages of a lock file that there are stand-ins for.
pub(super) fn locked(text: &str) -> Vec<Locked> {
    let mut all: Vec<Locked> = Vec::new();
    for line in text.lines() {
        let source = match line {
            "[[package]]" => Some(Source::Folder),
            "[[patch.unused]]" => Some(Source::Unused),
            _ => None,
        };
        if let Some(source) = source {
            all.push(Locked { package: String::new(), version: String::new(), source });
        }
        let (Some(last), Some((key, value))) = (all.last_mut(), line.split_once(" = ")) else { continue };
        let value = value.trim_matches('"');
        match key {
            "name" => last.package = value.to_string(),
            "version" => last.version = value.to_string(),
            "source" if last.source != Source::Unused => {
                let is_registry = ["registry+", "sparse+"].iter().any(|start| value.starts_with(start));
                last.source = if is_registry { Source::Registry } else { Source::Elsewhere };
            }
            _ => {}
        }
    }
    all.retain(|locked| STAND_INS.iter().any(|known| known.package == locked.package));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_told_by_where_they_come_from() {
        let text = "version = 4\n\n[[package]]\nname = \"loom\"\nversion = \"0.7.1\"\nsource = \"registry+https://x\"\n\
                    checksum = \"1\"\ndependencies = [\n \"cfg-if\",\n]\n\n[[package]]\nname = \"other\"\n\
                    version = \"1.0.0\"\n\n[[package]]\nname = \"shuttle\"\nversion = \"0.7.1\"\n\n\
                    [[patch.unused]]\nname = \"loom\"\nversion = \"0.7.2\"\n";
        let told: Vec<_> =
            locked(text).into_iter().map(|l| format!("{} {} {:?}", l.package, l.version, l.source)).collect();
        assert_eq!(told, ["loom 0.7.1 Registry", "shuttle 0.7.1 Folder", "loom 0.7.2 Unused"]);
        assert!(locked("").is_empty());
    }
}
