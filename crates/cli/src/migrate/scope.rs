//! What a name stands for at a place in a source file.
//!
//! A file is a tree of modules and blocks. Each has the names that it declares and those that its `use`s bring in; a path begins with one
//! of them, with `self` or `super`, or with the name of a crate. Names of blocks hide those of the module, and a module
//! does not see those of the one around it, unless it has `use super::*`. Where a name is brought in twice, for two
//! configurations, it stands for both.

use std::collections::BTreeMap;

use syn::{Item, UseTree};

use super::cfg::is_off;
use super::uses::{attributes, walk};

/// The crates of tools, by the names that they have in a package.
pub(super) type Crates = BTreeMap<String, &'static str>;

/// The names of a module or block.
#[derive(Default)]
struct Scope {
    is_module: bool,
    /// What `use` brings in, as it is written; nothing for what is declared here.
    names: BTreeMap<String, Vec<Option<Vec<String>>>>,
    /// Whether the names of the module around it are brought in.
    inherits: bool,
}

/// The scopes around a place, the innermost last.
pub(super) struct Scopes<'a> {
    crates: &'a Crates,
    scopes: Vec<Scope>,
}

/// How many `use`s are followed for one name: they may go round in a circle.
const LONGEST: usize = 16;

impl<'a> Scopes<'a> {
    pub(super) fn new(crates: &'a Crates) -> Scopes<'a> {
        Scopes { crates, scopes: Vec::new() }
    }

    /// Enters a module or block that has these items.
    pub(super) fn enter<'i>(&mut self, items: impl Iterator<Item = &'i Item>, is_module: bool) {
        let mut scope = Scope { is_module, ..Scope::default() };
        for item in items {
            scope.declare(item, self.crates);
        }
        self.scopes.push(scope);
    }

    /// Leaves it.
    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// What a path leads to, as far as that is something of a tool: the tool, and the path from its crate on.
    pub(super) fn resolve(&self, path: &[String]) -> Vec<(&'static str, Vec<String>)> {
        self.follow(path, self.scopes.len(), LONGEST)
    }

    /// The same for a path that is written inside the first `depth` scopes.
    fn follow(&self, path: &[String], depth: usize, left: usize) -> Vec<(&'static str, Vec<String>)> {
        let (Some(first), Some(left)) = (path.first(), left.checked_sub(1)) else { return Vec::new() };
        let module = self.scopes[..depth].iter().rposition(|scope| scope.is_module).unwrap_or(0);
        match first.as_str() {
            "" => return self.of_crate(&path[1..]),
            "crate" => return Vec::new(),
            "self" => return self.within(module, &path[1..], left).unwrap_or_default(),
            "super" => {
                // Modules around the file are not known.
                let around = self.scopes[..module].iter().rposition(|scope| scope.is_module);
                return around.and_then(|around| self.within(around, &path[1..], left)).unwrap_or_default();
            }
            _ => {}
        }
        let inner = (module..depth).rev().find_map(|scope| self.within(scope, path, left));
        inner.unwrap_or_else(|| self.of_crate(path))
    }

    /// What a path leads to that begins with a name of a scope; `None` if the name is not one.
    fn within(&self, scope: usize, path: &[String], left: usize) -> Option<Vec<(&'static str, Vec<String>)>> {
        let (first, rest) = path.split_first()?;
        let at = self.scopes.get(scope)?;
        if let Some(meanings) = at.names.get(first) {
            let whole = |start: &Vec<String>| start.iter().chain(rest).cloned().collect::<Vec<_>>();
            // A `use` of a name that is the same as the name: it is that of the crate.
            let is_own = |start: &Vec<String>| start.first() == Some(first);
            let follow = |start: &Vec<String>| match is_own(start) {
                true => self.of_crate(&whole(start)),
                false => self.follow(&whole(start), scope + 1, left),
            };
            return Some(meanings.iter().flatten().flat_map(follow).collect());
        }
        if at.inherits {
            let around = self.scopes[..scope].iter().rposition(|scope| scope.is_module)?;
            return self.within(around, path, left.checked_sub(1)?);
        }
        None
    }

    fn of_crate(&self, path: &[String]) -> Vec<(&'static str, Vec<String>)> {
        let tool = path.first().and_then(|first| self.crates.get(first));
        tool.map(|tool| (*tool, path[1..].to_vec())).into_iter().collect()
    }
}

impl Scope {
    fn declare(&mut self, item: &Item, crates: &Crates) {
        let declared = match item {
            Item::Use(item) => {
                let off: Vec<&str> =
                    crates.values().filter(|tool| is_off(&item.attrs, tool)).copied().collect();
                let lead = item.leading_colon.as_ref().map(|_| String::new());
                let mut path: Vec<String> = lead.into_iter().collect();
                self.bring_in(&item.tree, &mut path, crates, &off);
                return;
            }
            Item::ExternCrate(item) => {
                let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
                let path = vec![String::new(), item.ident.to_string()];
                self.names.entry(name.to_string()).or_default().push(Some(path));
                return;
            }
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Mod(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            _ => return,
        };
        // What is there in all builds but those for a tool says nothing of these.
        if !crates.values().any(|tool| is_off(attributes(item), tool)) {
            self.names.entry(declared.to_string()).or_default().push(None);
        }
    }

    fn bring_in(&mut self, tree: &UseTree, path: &mut Vec<String>, crates: &Crates, off: &[&str]) {
        walk(tree, path, &mut |path, name, _| {
            let of_tool = path.iter().find(|part| !part.is_empty()).and_then(|first| crates.get(first));
            if name == "*" {
                self.inherits |= path.len() == 2 && path[0] == "super";
            } else if off.is_empty() || of_tool.is_some_and(|tool| !off.contains(tool)) {
                self.names.entry(name).or_default().push(Some(path.to_vec()));
            }
        });
    }
}
