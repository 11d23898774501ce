//! The uses of loom and Shuttle in a source file.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ExprBlock, File, ImplItemFn, Item, ItemMod, ItemUse, Local, Macro, Path, Stmt, UseTree,
};

use super::cfg::is_off;
use super::items::TOOLS;
use super::scope::{Crates, Scopes};

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

/// The uses in a file, whose package has tools by these names.
pub(super) fn of(text: &str, crates: &Crates) -> Result<Vec<Use>, syn::Error> {
    let file: File = syn::parse_file(text)?;
    let mut finder = Finder { scopes: Scopes::new(crates), off: Vec::new(), uses: Vec::new() };
    finder.unless_off(&file.attrs, |finder| {
        finder.within(file.items.iter(), true, |finder| {
            file.items.iter().for_each(|item| finder.visit_item(item));
        })
    });
    // The name of a method says nothing in a file that does not use the tool.
    let is_path = |found: &Use| !found.item.starts_with('.');
    let used: Vec<&str> = finder.uses.iter().filter(|found| is_path(found)).map(|found| found.tool).collect();
    finder.uses.retain(|found| used.contains(&found.tool));
    Ok(finder.uses)
}

/// Calls `found` with each path of a `use`, the name that it gets, and its line.
pub(super) fn walk(tree: &UseTree, path: &mut Vec<String>, found: &mut impl FnMut(&[String], String, usize)) {
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

/// The attributes of an item.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

struct Finder<'a> {
    scopes: Scopes<'a>,
    /// The tools in whose builds this part of the file is left out.
    off: Vec<&'static str>,
    uses: Vec<Use>,
}

impl Finder<'_> {
    /// Looks at something that has attributes.
    fn unless_off(&mut self, attributes: &[Attribute], look: impl FnOnce(&mut Self)) {
        let before = self.off.len();
        let off = TOOLS.iter().map(|tool| tool.name).filter(|tool| is_off(attributes, tool));
        self.off.extend(off);
        look(self);
        self.off.truncate(before);
    }

    /// Looks at something inside a module or block.
    fn within<'i>(
        &mut self,
        items: impl Iterator<Item = &'i Item>,
        is_module: bool,
        look: impl FnOnce(&mut Self),
    ) {
        self.scopes.enter(items, is_module);
        look(self);
        self.scopes.leave();
    }

    /// Notes a path as it is written, if it leads to a tool.
    fn note(&mut self, written: &[String], line: usize) {
        for (tool, path) in self.scopes.resolve(written) {
            if !path.is_empty() && !self.off.contains(&tool) {
                self.uses.push(Use { tool, item: path.join("::"), line });
            }
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

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        self.unless_off(attributes(item), |finder| visit::visit_item(finder, item));
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        let Some((_, items)) = &module.content else { return };
        self.within(items.iter(), true, |finder| items.iter().for_each(|item| finder.visit_item(item)));
    }

    fn visit_block(&mut self, block: &'a Block) {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        self.within(items, false, |finder| visit::visit_block(finder, block));
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.unless_off(&function.attrs, |finder| visit::visit_impl_item_fn(finder, function));
    }

    fn visit_local(&mut self, local: &'a Local) {
        self.unless_off(&local.attrs, |finder| visit::visit_local(finder, local));
    }

    fn visit_expr_block(&mut self, block: &'a ExprBlock) {
        self.unless_off(&block.attrs, |finder| visit::visit_expr_block(finder, block));
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let (mut paths, mut start) = (Vec::new(), Vec::new());
        start.extend(item.leading_colon.as_ref().map(|_| String::new()));
        walk(&item.tree, &mut start, &mut |path, _, line| paths.push((path.to_vec(), line)));
        paths.into_iter().for_each(|(path, line)| self.note(&path, line));
    }

    fn visit_path(&mut self, path: &'a Path) {
        let lead = path.leading_colon.as_ref().map(|_| String::new());
        let written = lead.into_iter().chain(path.segments.iter().map(|segment| segment.ident.to_string()));
        let written: Vec<String> = written.collect();
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
            let is_listed = tool.methods().any(|name| call.method == name);
            if is_listed && !self.off.contains(&tool.name) {
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

    fn crates() -> Crates {
        [("loom", "loom"), ("my_loom", "loom"), ("shuttle", "shuttle")]
            .map(|(name, tool)| (String::from(name), tool))
            .into()
    }

    fn items(text: &str) -> Vec<String> {
        let mut items: Vec<String> =
            of(text, &crates()).expect("the text is Rust").into_iter().map(|found| found.item).collect();
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
        assert!(of("fn (", &crates()).is_err());
    }

    #[test]
    fn names_are_those_of_the_scope() {
        // As in crates whose unit tests use threads of std, and whose model tests those of loom.
        let text = "
            #[cfg(all(test, not(a_loom)))]
            mod tests {
                use std::thread;
                fn f() { thread::sleep(limit()); }
            }
            #[cfg(all(test, a_loom))]
            mod models {
                use loom::thread;
                fn f() { loom::model(|| thread::spawn(|| ())); }
                fn g() { use std::thread; thread::scope(|s| ()); }
                mod inner { fn f() { thread::park_timeout(limit()); } }
                mod other { use super::*; fn f() { thread::park(); } }
                mod last { fn f() { super::thread::current(); self::thread::nothing(); } }
            }
        ";
        assert_eq!(items(text), ["model", "thread", "thread::current", "thread::park", "thread::spawn"]);
    }

    #[test]
    fn two_configurations_bring_in_the_same_name() {
        let text = "
            #[cfg(loom)] use loom::thread;
            #[cfg(not(loom))] use std::thread;
            fn f() { thread::spawn(|| ()); }
            #[cfg(not(loom))] fn g() { thread::sleep(limit()); }
            fn h() { #[cfg(not(loom))] { thread::scope(|s| ()); } #[cfg(not(loom))] let x = thread::sleep(limit()); }
        ";
        assert_eq!(items(text), ["thread", "thread::spawn"]);
    }

    #[test]
    fn crates_have_the_names_of_the_manifest_and_may_be_hidden() {
        assert_eq!(
            items("use my_loom::sync::Arc; fn f() { my_loom::model(|| ()); }"),
            ["model", "sync::Arc"]
        );
        assert_eq!(items("mod loom; use loom::sync::Anything; fn f() { loom::other(); }"), [""; 0]);
        assert_eq!(items("mod loom {} fn f() { ::loom::model(|| ()); }"), ["model"]);
        assert_eq!(items("use crate::loom::sync::Anything; use super::loom::Other;"), [""; 0]);
        assert_eq!(items("use loom; use loom::sync; use sync::Mutex;"), ["sync", "sync::Mutex"]);
        assert_eq!(items("use a::b; use b::a; fn f() { a::c(); }"), [""; 0]);
    }
}
