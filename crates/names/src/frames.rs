//! Code: functions, inlined ones included, and lines.

use std::fmt;

use crate::module::{Module, covering};

/// A function that a thread was in, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The name, readable and without parameters; what is long in brackets is left out.
    pub function: Option<String>,
    /// The name as the linker knows it.
    pub symbol: Option<String>,
    /// The file, as the compiler was given it, below the folder that it ran in.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// Whether the code is part of the next frame's function, which the compiler put it into.
    pub inlined: bool,
}

impl Frame {
    /// The name with everything in brackets.
    pub fn whole(&self) -> Option<String> {
        self.symbol.as_deref().map(demangled)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function.as_deref().unwrap_or("?"))?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}"),
            (Some(file), None) => write!(f, " in {file}"),
            _ => Ok(()),
        }
    }
}

impl Module {
    /// The frames at an instruction, the innermost first. Empty if nothing is known.
    pub fn frames(&self, offset: u64) -> Vec<Frame> {
        let mut frames = self.noted(offset).unwrap_or_default();
        let symbol = covering(&self.functions, offset);
        match frames.last_mut() {
            Some(outermost) if outermost.function.is_none() => {
                outermost.function = symbol.map(|symbol| shortened(&demangled(&symbol.name)));
                outermost.symbol = symbol.map(|symbol| symbol.name.clone());
            }
            None => frames.extend(symbol.map(|symbol| Frame {
                function: Some(shortened(&demangled(&symbol.name))),
                symbol: Some(symbol.name.clone()),
                ..Frame::default()
            })),
            Some(_) => {}
        }
        frames
    }

    /// The frames of a call, by the address that it returns to: that is after the call, and may be on another line.
    pub fn call(&self, returns_to: u64) -> Vec<Frame> {
        self.frames(returns_to.saturating_sub(1))
    }

    fn noted(&self, offset: u64) -> Option<Vec<Frame>> {
        let notes = self.notes.as_ref()?;
        let mut found = notes.context.find_frames(offset).skip_all_loads().ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let symbol = frame.function.as_ref().and_then(|name| Some(name.raw_name().ok()?.into_owned()));
            let place = frame.location.as_ref();
            frames.push(Frame {
                function: symbol.as_deref().map(demangled).as_deref().map(shortened),
                symbol,
                file: place.and_then(|place| place.file).map(tidied),
                line: place.and_then(|place| place.line),
                column: place.and_then(|place| place.column),
                inlined: true,
            });
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.inlined = false;
        }
        Some(frames)
    }
}

/// A path without `.` and `..` in the middle.
fn tidied(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A name of the linker made readable: C++ and Rust names in full, without the parameters of the function.
pub fn demangled(symbol: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        return format!("{rust:#}");
    }
    // A name of C may look like a part of one of C++, such as `t`, which is a type there.
    if !symbol.starts_with("_Z") {
        return symbol.to_string();
    }
    let options =
        cpp_demangle::DemangleOptions::new().no_params().no_return_type().hide_expression_literal_types();
    let parsed = cpp_demangle::Symbol::new(symbol.as_bytes()).ok();
    let name = parsed.and_then(|parsed| parsed.demangle_with_options(&options).ok());
    name.unwrap_or_else(|| symbol.to_string())
}

/// What is longer than this in brackets is left out.
const LONGEST: usize = 24;

/// The names of operators with brackets that are none, the longest first.
const OPERATORS: [&str; 12] = ["<=>", "->*", "<<=", ">>=", "()", "->", "<<", ">>", "<=", ">=", "<", ">"];

/// A name that fits on a line: `queue<...>::pop` in place of all that the queue is made of.
fn shortened(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("operator") {
            let signs =
                OPERATORS.iter().find(|signs| after.starts_with(**signs)).map_or(0, |signs| signs.len());
            let end = "operator".len() + signs;
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let inner = match c {
            '<' => inside(rest, '<', '>'),
            '(' => inside(rest, '(', ')'),
            _ => None,
        };
        match inner {
            Some(inner) if inner.len() > LONGEST => {
                out.push_str(if c == '<' { "<...>" } else { "(...)" });
                rest = &rest[inner.len() + 2..];
            }
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// What is between the bracket that a text starts with and the one that closes it.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !text[..at].ends_with('-') {
            depth -= 1;
            if depth == 0 {
                return Some(&text[open.len_utf8()..at]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_readable() {
        for plain in ["main", "t", "i", "f", "St", "PKc"] {
            assert_eq!(demangled(plain), plain);
        }
        assert_eq!(demangled("_ZN5queue4pushEi"), "queue::push");
        assert_eq!(demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
    }

    #[test]
    fn names_are_made_short() {
        for (long, short) in [
            ("std::atomic<int>::load", "std::atomic<int>::load"),
            ("q::Queue<q::gc::Hazard, q::traits::Default, int>::pop", "q::Queue<...>::pop"),
            ("q::pop(q::Queue<int>&, q::Back_off const&)::{lambda(int)#1}", "q::pop(...)::{lambda(int)#1}"),
            ("a::operator<<", "a::operator<<"),
            ("a::operator()", "a::operator()"),
            ("a::operator-><some::very::long::type::of::argument>", "a::operator-><...>"),
            ("std::pair<int (*)(int), long>::pair", "std::pair<int (*)(int), long>::pair"),
        ] {
            assert_eq!(shortened(long), short);
        }
    }

    #[test]
    fn paths_are_tidied() {
        assert_eq!(tidied("/a/b/../c/./d.c"), "/a/c/d.c");
        assert_eq!(tidied("../d.c"), "../d.c");
        assert_eq!(tidied("/d.c"), "/d.c");
    }
}
