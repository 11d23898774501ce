//! The uses of loom and Shuttle in a source file.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{File, ItemExternCrate, ItemUse, Macro, Path, UseTree};

use super::items::TOOLS;

/// A use of an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The crate.
    pub(super) tool: &'static str,
    /// The path from the crate on, or a method with a dot before it.
    pub(super) item: String,
    /// Where.
    pub(super) line: usize,
}

/// The uses in a file.
pub(super) fn of(text: &str) -> Result<Vec<Use>, syn::Error> {
    let file: File = syn::parse_file(text)?;
    // Names first: a `use` counts for all of the file, wherever it stands.
    let mut names = Names::default();
    names.visit_file(&file);
    let mut finder = Finder { names: names.0, uses: Vec::new() };
    finder.visit_file(&file);
    // The name of a method says nothing in a file that does not use the tool.
    let is_path = |found: &Use| !found.item.starts_with('.');
    let used: Vec<&str> = finder.uses.iter().filter(|found| is_path(found)).map(|found| found.tool).collect();
    finder.uses.retain(|found| used.contains(&found.tool));
    Ok(finder.uses)
}

/// What names stand for: paths that start with the crate of a tool.
#[derive(Default)]
struct Names(BTreeMap<String, Vec<String>>);

impl<'a> Visit<'a> for Names {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let mut add = |path: &[String], name: String, _: usize| {
            if is_tool(path) {
                self.0.insert(name, path.to_vec());
            }
        };
        walk(&item.tree, &mut Vec::new(), &mut add);
    }

    fn visit_item_extern_crate(&mut self, item: &'a ItemExternCrate) {
        let path = [item.ident.to_string()];
        if let (true, Some((_, name))) = (is_tool(&path), &item.rename) {
            self.0.insert(name.to_string(), path.to_vec());
        }
    }
}

fn is_tool(path: &[String]) -> bool {
    path.first().is_some_and(|first| tool(first).is_some())
}

fn tool(name: &str) -> Option<&'static str> {
    TOOLS.iter().map(|tool| tool.name).find(|known| *known == name)
}

/// Calls `found` with each path of a `use`, the name that it gets, and its line.
fn walk(tree: &UseTree, path: &mut Vec<String>, found: &mut impl FnMut(&[String], String, usize)) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            walk(&part.tree, path, found);
            path.pop();
        }
        UseTree::Name(last) => leaf(last.ident.to_string(), None, line(last.ident.span()), path, found),
        UseTree::Rename(last) => {
            let new = Some(last.rename.to_string());
            leaf(last.ident.to_string(), new, line(last.ident.span()), path, found);
        }
        UseTree::Glob(glob) => {
            leaf(String::from("*"), None, line(glob.star_token.spans[0]), path, found);
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, path, found)),
    }
}

fn leaf(
    name: String,
    new: Option<String>,
    line: usize,
    path: &mut Vec<String>,
    found: &mut impl FnMut(&[String], String, usize),
) {
    if name == "self" {
        let own = path.last().cloned().unwrap_or_default();
        return found(path, new.unwrap_or(own), line);
    }
    path.push(name.clone());
    found(path, new.unwrap_or(name), line);
    path.pop();
}

fn line(span: proc_macro2::Span) -> usize {
    span.start().line
}

struct Finder {
    names: BTreeMap<String, Vec<String>>,
    uses: Vec<Use>,
}

impl Finder {
    /// Notes a path as it is written, if it leads to a tool.
    fn note(&mut self, written: &[String], line: usize) {
        let Some(first) = written.first() else { return };
        let whole = match (tool(first), self.names.get(first)) {
            (Some(_), _) => written.to_vec(),
            (None, Some(path)) => path.iter().chain(&written[1..]).cloned().collect(),
            (None, None) => return,
        };
        if let Some(tool) = tool(&whole[0]).filter(|_| whole.len() > 1) {
            self.uses.push(Use { tool, item: whole[1..].join("::"), line });
        }
    }

    /// Looks for paths in what a macro gets.
    fn look(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut start, mut colons) = (0, 0);
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.note(&std::mem::take(&mut path), start);
                    }
                    if path.is_empty() {
                        start = line(ident.span());
                    }
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.look(group.stream()),
                _ => {}
            }
            self.note(&std::mem::take(&mut path), start);
            colons = 0;
        }
        self.note(&path, start);
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let mut paths = Vec::new();
        walk(&item.tree, &mut Vec::new(), &mut |path, _, line| paths.push((path.to_vec(), line)));
        paths.into_iter().for_each(|(path, line)| self.note(&path, line));
    }

    fn visit_path(&mut self, path: &'a Path) {
        let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let place = path.segments.first().map_or(0, |first| line(first.ident.span()));
        self.note(&written, place);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.visit_path(&call.path);
        self.look(call.tokens.clone());
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        for tool in TOOLS {
            if tool.methods().any(|name| call.method == name) {
                let item = format!(".{}", call.method);
                self.uses.push(Use { tool: tool.name, item, line: line(call.method.span()) });
            }
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<String> {
        let mut items: Vec<String> =
            of(text).expect("the text is Rust").into_iter().map(|found| found.item).collect();
        items.sort();
        items.dedup();
        items
    }

    #[test]
    fn paths_are_followed_through_use() {
        let text = "
            use loom::{sync::{self, atomic::{AtomicUsize as Number, Ordering::*}}, thread};
            fn f(number: &Number) -> sync::Arc<u8> {
                thread::spawn(|| loom::model(|| {}));
                sync::Arc::new(1)
            }
        ";
        let expected = [
            "model",
            "sync",
            "sync::Arc",
            "sync::Arc::new",
            "sync::atomic::AtomicUsize",
            "sync::atomic::Ordering::*",
            "thread",
            "thread::spawn",
        ];
        assert_eq!(items(text), expected);
    }

    #[test]
    fn macros_are_looked_into() {
        let text = "
            shuttle::lazy_static! { static ref LOCK: shuttle::sync::Mutex<u8> = shuttle::sync::Mutex::new(0); }
            fn f() { assert!(vec![shuttle::thread::current().name()].is_empty()); }
        ";
        assert_eq!(items(text), ["lazy_static", "sync::Mutex", "sync::Mutex::new", "thread::current"]);
    }

    #[test]
    fn renamed_crates_are_followed() {
        assert_eq!(items("use shuttle as s; fn f() { s::check_dfs(|| (), None); }"), ["check_dfs"]);
        assert_eq!(items("extern crate loom as l; use l::model::Builder;"), ["model::Builder"]);
    }

    #[test]
    fn other_crates_and_methods_of_theirs_are_left_alone() {
        assert_eq!(items("use std::sync::Arc; fn f(x: X) { x.raw_load(); }"), [""; 0]);
        assert!(of("fn (").is_err());
    }
}
