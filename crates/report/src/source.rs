//! The source of the program under test, as far as it can be found.
//!
//! The compiler gives paths relative to the root of the workspace, while a test runs in the root of
//! its package. A relative path is therefore looked for in the working directory and in each
//! directory above it, then in `CARGO_MANIFEST_DIR` and in each directory above that; the first
//! hit counts. Where two packages hold a file of the same relative path, that may be the wrong one.
//! What cannot be read is absent: nothing here fails.

mod mask;
mod receiver;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use unpick_core::trace::Place;

/// Files beyond this size are not read.
const MAX_BYTES: u64 = 8 << 20;

/// Source files that were read, kept so that each is read once.
#[derive(Debug)]
pub struct Sources {
    /// Directories that relative paths may start from, in the order in which they are tried.
    roots: Vec<PathBuf>,
    /// Files by the path that the compiler gave; `None` for one that cannot be read.
    files: BTreeMap<String, Option<File>>,
}

#[derive(Debug)]
struct File {
    chars: Vec<char>,
    /// The same text, of the same length, without comments and literals.
    masked: Vec<char>,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Sources {
    /// Sources as this process sees them: reads the working directory and `CARGO_MANIFEST_DIR`.
    pub fn new() -> Sources {
        let starts = [env::current_dir().ok(), env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)];
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in starts.iter().flatten().flat_map(|start| start.ancestors()) {
            if !roots.iter().any(|r| r == root) {
                roots.push(root.to_owned());
            }
        }
        Sources::in_roots(roots)
    }

    /// Sources below the given directories, the first of which counts most.
    pub fn in_roots(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, files: BTreeMap::new() }
    }

    /// The line of a place, without its end.
    pub fn line(&mut self, place: &Place) -> Option<String> {
        let file = self.file(&place.file)?;
        let chars = &file.chars[file.line(place.line)?];
        Some(chars.iter().collect::<String>().trim_end().to_owned())
    }

    /// What a method is called on: the text `flag` for the place of `flag.load(Acquire)`.
    ///
    /// The place is that of the method's name, which is where `#[track_caller]` points. The text
    /// is one line whatever the source looks like. `None` when there is no method call (a path
    /// such as `AtomicBool::load`, a macro), when the receiver contains a block, a closure or
    /// generic arguments, and when it is longer than 40 characters.
    ///
    /// ```
    /// use unpick_core::trace::Place;
    /// use unpick_report::Sources;
    ///
    /// # let folder = std::env::temp_dir().join(format!("unpick-report-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("a.rs"), "fn f() { self.slots[i].load(Acquire); }")?;
    /// let mut sources = Sources::in_roots(vec![folder.clone()]);
    /// let place = Place { file: "a.rs".into(), line: 1, column: 24 };
    /// assert_eq!(sources.receiver(&place).as_deref(), Some("self.slots[i]"));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn receiver(&mut self, place: &Place) -> Option<String> {
        let file = self.file(&place.file)?;
        receiver::before(&file.chars, &file.masked, file.at(place)?)
    }

    /// The name that stands at a place: `load` for the place of `flag.load(Acquire)`.
    pub fn name(&mut self, place: &Place) -> Option<String> {
        let file = self.file(&place.file)?;
        let rest = &file.masked[file.at(place)?..];
        let name: String = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
        (!name.is_empty()).then_some(name)
    }

    fn file(&mut self, path: &str) -> Option<&File> {
        if !self.files.contains_key(path) {
            // `join` leaves an absolute path as it is.
            let candidates = self.roots.iter().map(|root| root.join(path)).chain([PathBuf::from(path)]);
            let file = candidates.into_iter().find_map(|candidate| read(&candidate)).map(File::new);
            self.files.insert(path.to_owned(), file);
        }
        self.files.get(path)?.as_ref()
    }
}

impl Default for Sources {
    fn default() -> Sources {
        Sources::new()
    }
}

impl File {
    fn new(text: String) -> File {
        // The compiler counts columns without a byte order mark.
        let chars: Vec<char> = text.strip_prefix('\u{feff}').unwrap_or(&text).chars().collect();
        let starts = chars.iter().enumerate().filter(|(_, c)| **c == '\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        File { masked: mask::mask(&chars), chars, lines }
    }

    /// Where a place is in the text.
    fn at(&self, place: &Place) -> Option<usize> {
        let line = self.line(place.line)?;
        let at = line.start + usize::try_from(place.column.checked_sub(1)?).ok()?;
        (at < line.end).then_some(at)
    }

    /// The characters of a line, counted from 1.
    fn line(&self, number: u32) -> Option<std::ops::Range<usize>> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = *self.lines.get(index)?;
        let end = self.lines.get(index + 1).map_or(self.chars.len(), |next| next - 1);
        Some(start..end)
    }
}

/// [`Sources::line`], for a single use.
pub fn line(place: &Place) -> Option<String> {
    Sources::new().line(place)
}

/// [`Sources::receiver`], for a single use.
pub fn receiver(place: &Place) -> Option<String> {
    Sources::new().receiver(place)
}

fn read(path: &Path) -> Option<String> {
    // Only plain files: reading a pipe or a device could wait for ever.
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}
