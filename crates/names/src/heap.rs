//! The type of a heap block, from where it was allocated.
//!
//! Compilers do not note what an allocation is for. Two things tell: the allocator of the standard library, whose name says its
//! type, and the line of the source, which names it as a rule (`new Node(1)`, `malloc(sizeof(struct node))`,
//! `struct node *n = malloc(sizeof *n)`). A type is taken only if it has fields, and
//! if the block has room for a whole number of it.

use crate::frames::Frame;
use crate::module::{Entry, Module};
use crate::shape::Variable;

impl Module {
    /// A part of a heap block of `bytes` bytes: `Node.next`, or `Node[3].next` in a block of several. The frames are those of
    /// the allocation, the innermost first.
    pub fn block(&self, allocation: &[Frame], bytes: u64, offset: u64, size: u64) -> Option<Variable> {
        let (name, shape) = allocation.iter().find_map(|frame| self.allocated(frame, bytes))?;
        let each = self.notes.as_ref()?.size(shape)?;
        let shown = name.rsplit("::").next().unwrap_or(&name);
        let shown = if each == bytes { shown.to_string() } else { format!("{shown}[{}]", offset / each) };
        (offset % each + size <= each).then(|| self.part(&shown, shape, offset % each, size))
    }

    /// The type that a frame names.
    fn allocated(&self, frame: &Frame, bytes: u64) -> Option<(String, Entry)> {
        let function = frame.whole().unwrap_or_default();
        if let Some(inner) = argument(&function, "allocator<") {
            return self.named(inner, bytes);
        }
        // Lines of the libraries name their own types, not those of the program.
        let file = frame.file.as_deref().filter(|file| !file.starts_with("/usr/"))?;
        let text = self.source(file, frame.line?)?;
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        words.filter(|word| !word.is_empty()).find_map(|word| self.named(word, bytes))
    }

    /// A type by its name, whole or without what it lies in, if a block has room for a whole number of it.
    fn named(&self, name: &str, bytes: u64) -> Option<(String, Entry)> {
        let notes = self.notes.as_ref()?;
        let fits = |entry: &Entry| {
            let size = notes.size(*entry).filter(|size| *size > 0);
            notes.has_fields(*entry) && size.is_some_and(|size| bytes.is_multiple_of(size))
        };
        let index = self.index();
        if let Some(entry) =
            index.types.get(name).and_then(|entries| entries.iter().find(|entry| fits(entry)))
        {
            return Some((name.to_string(), *entry));
        }
        let ending = format!("::{name}");
        let mut longer = index.types.iter().filter(|(whole, _)| whole.ends_with(&ending));
        longer.find_map(|(whole, entries)| Some((whole.clone(), *entries.iter().find(|entry| fits(entry))?)))
    }
}

/// What is between the brackets that follow a word: its first template argument.
fn argument<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let start = text.find(word)? + word.len();
    let mut depth = 0;
    for (at, c) in text[start..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if depth == 0 => return Some(text[start..start + at].trim()),
            ',' if depth == 0 => return Some(text[start..start + at].trim()),
            '>' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_arguments_are_found() {
        assert_eq!(
            argument("std::__new_allocator<a::Node<int> >::allocate", "allocator<"),
            Some("a::Node<int>")
        );
        assert_eq!(argument("std::map<int, char>", "map<"), Some("int"));
        assert_eq!(argument("main", "allocator<"), None);
    }
}
