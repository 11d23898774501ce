//! What the compiler needs from us, unpacked: the runtime and the headers.
//!
//! They are part of the command line, so that `cargo install` is enough; but a command line that is not optimised builds the runtime
//! when it is first needed. They are unpacked once, to a folder named by what is in it: programs keep the path of their runtime,
//! and go on with it when unpick is updated.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::Environment;
use super::runtime::Build;
use crate::cargo;
use crate::error::Error;

/// Where the runtime is built when it is needed; empty if it is part of the command line, or cannot be built.
const FOLDER: &str = env!("UNPICK_RUNTIME_FOLDER");
/// The runtime, a shared library; empty if it is not part of the command line.
const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libunpick_native.so"));
/// A number for what is unpacked.
const CONTENT: &str = env!("UNPICK_KIT");

const HEADERS: [(&str, &str); 3] = [
    ("unpick.h", include_str!("../../include/unpick.h")),
    ("genmc.h", include_str!("../../include/genmc.h")),
    ("c++/mutex", include_str!("../../include/c++/mutex")),
];

/// Whether a path is that of a header of ours, wherever it was unpacked.
pub(crate) fn is_header(path: &str) -> bool {
    HEADERS
        .iter()
        .any(|(name, _)| path.strip_suffix(name).is_some_and(|folder| folder.ends_with("/include/")))
}

/// The folder with everything in it.
#[derive(Debug)]
pub(crate) struct Kit {
    folder: PathBuf,
}

impl Kit {
    /// The kit in the user's cache, unpacked if it is not there yet.
    pub(crate) fn unpacked(environment: &Environment) -> Result<Kit, Error> {
        let cache = environment.cache.as_ref().ok_or(Error::NoCache)?;
        let cache = std::path::absolute(cache)
            .map_err(|problem| Error::NotUnpacked { path: cache.clone(), problem })?;
        let path = match &environment.runtime {
            Some(path) => path.clone(),
            None if !FOLDER.is_empty() => built()?,
            None if RUNTIME.is_empty() => return Err(Error::NoRuntime),
            None => return Kit::made(&cache, CONTENT, RUNTIME),
        };
        let bytes = std::fs::read(&path).map_err(|problem| Error::Unreadable { path, problem })?;
        Kit::made(&cache, &format!("{CONTENT}-{:016x}", number(&bytes)), &bytes)
    }

    fn made(cache: &Path, name: &str, runtime: &[u8]) -> Result<Kit, Error> {
        let kit = Kit { folder: cache.join(name) };
        if kit.folder.is_dir() {
            return Ok(kit);
        }
        // Compilers run side by side: each writes a folder of its own, and the first one stays.
        let draft = Kit { folder: cache.join(format!(".{name}.{}", std::process::id())) };
        draft.write(runtime, &kit)?;
        if let Err(problem) = std::fs::rename(&draft.folder, &kit.folder) {
            let _ = std::fs::remove_dir_all(&draft.folder);
            if !kit.folder.is_dir() {
                return Err(Error::NotUnpacked { path: kit.folder, problem });
            }
        }
        Ok(kit)
    }

    /// Writes everything, for the folder that it ends up in.
    fn write(&self, runtime: &[u8], final_kit: &Kit) -> Result<(), Error> {
        let put = |path: PathBuf, bytes: &[u8]| {
            let folder = path.parent().unwrap_or(&self.folder);
            let done = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
            done.map_err(|problem| Error::NotUnpacked { path, problem })
        };
        put(self.runtime(), runtime)?;
        // The library that gcc asks for by itself, as a text that names ours.
        let stand_in = format!("INPUT(\"{}\")\n", final_kit.runtime().display());
        put(self.stand_in().join("libtsan.so"), stand_in.as_bytes())?;
        put(self.stand_in().join("libtsan_preinit.o"), &empty_object())?;
        HEADERS.iter().try_for_each(|(name, text)| put(self.include().join(name), text.as_bytes()))
    }

    /// The folder of the runtime.
    pub(crate) fn library(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// The runtime.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.library().join("libunpick_native.so")
    }

    /// The folder of the headers.
    pub(crate) fn include(&self) -> PathBuf {
        self.folder.join("include")
    }

    /// The folder of the headers that stand in front of those of the C++ library.
    pub(crate) fn cxx_include(&self) -> PathBuf {
        self.include().join("c++")
    }

    /// The folder with what gcc looks for when it is asked for instrumentation.
    pub(crate) fn stand_in(&self) -> PathBuf {
        self.folder.join("stand-in")
    }
}

/// The runtime, built now unless it has been.
fn built() -> Result<PathBuf, Error> {
    let build = Build {
        own: Path::new(env!("CARGO_MANIFEST_DIR")),
        version: env!("CARGO_PKG_VERSION"),
        folder: Path::new(FOLDER),
        cargo: cargo::program(),
    };
    if let Some(library) = build.fresh() {
        return Ok(library);
    }
    if build.near().is_none() {
        return Err(Error::NoRuntimeSources);
    }
    // Standard error that has gone away leaves nobody to tell.
    let tell =
        || drop(writeln!(std::io::stderr(), "unpick: building the runtime for C and C++ programs, once"));
    build.run(tell).map_err(|problem| Error::NotBuilt { problem })
}

/// A number that stands for bytes (FNV-1a).
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// An object file with nothing in it: a header, the name of the one section, and the table of sections.
fn empty_object() -> Vec<u8> {
    const NAMES: &[u8; 16] = b"\0.shstrtab\0\0\0\0\0\0";
    let mut bytes = Vec::with_capacity(208);
    bytes.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    let halves = |bytes: &mut Vec<u8>, values: &[u16]| {
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()))
    };
    let words = |bytes: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()))
    };
    let longs = |bytes: &mut Vec<u8>, values: &[u64]| {
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()))
    };
    // To be linked, for x86-64; no entry, no segments, sections from byte 80.
    halves(&mut bytes, &[1, 62]);
    words(&mut bytes, &[1]);
    longs(&mut bytes, &[0, 0, 80]);
    words(&mut bytes, &[0]);
    halves(&mut bytes, &[64, 0, 0, 64, 2, 1]);
    bytes.extend(NAMES);
    // The section that every table starts with, and that of the names: bytes 64 to 75.
    bytes.extend([0; 64]);
    words(&mut bytes, &[1, 3]);
    longs(&mut bytes, &[0, 0, 64, 11]);
    words(&mut bytes, &[0, 0]);
    longs(&mut bytes, &[1, 0]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kit_is_unpacked_once() {
        let cache = std::env::temp_dir().join(format!("unpick-kit-{}", std::process::id()));
        let kit = Kit::made(&cache, "a", b"one").expect("it can be written");
        assert_eq!(std::fs::read(kit.runtime()).ok().as_deref(), Some(&b"one"[..]));
        let again = Kit::made(&cache, "a", b"two").expect("it is there");
        assert_eq!(std::fs::read(again.runtime()).ok().as_deref(), Some(&b"one"[..]));
        assert!(kit.include().join("unpick.h").is_file());
        let entries = std::fs::read_dir(&cache).expect("it is there").count();
        assert_eq!(entries, 1);
        std::fs::remove_dir_all(&cache).expect("it can be removed");
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_told() {
        let error = Kit::made(Path::new("/dev/null/x"), "a", b"").expect_err("it is no folder");
        assert!(error.to_string().contains("UNPICK_CACHE"), "{error}");
    }
}
