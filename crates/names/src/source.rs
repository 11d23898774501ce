//! Lines of the source.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files, each read once.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: RefCell<BTreeMap<PathBuf, Option<Rc<str>>>>,
}

impl Sources {
    /// A line, without the spaces around it; lines are counted from 1.
    pub(crate) fn line(&self, path: &Path, line: u32) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let text = files.entry(path.to_path_buf()).or_insert_with(|| {
            let bytes = std::fs::read(path).ok()?;
            Some(Rc::from(String::from_utf8_lossy(&bytes).as_ref()))
        });
        let text = text.as_ref()?;
        Some(text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?.trim().to_string())
    }
}
