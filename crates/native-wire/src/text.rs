//! Texts with marks: places and objects that get their names later.

use std::fmt::Write;

use crate::Code;

/// Something in a text that gets its name later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A place in the code.
    Code(Code),
    /// The object with this index.
    Object(usize),
}

const OPEN: char = '\u{27e6}';
const CLOSE: char = '\u{27e7}';

/// The text that stands for something until it gets its name.
pub fn mark(what: Mark) -> String {
    match what {
        Mark::Code(Code { module, offset }) => format!("{OPEN}{module}+{offset:x}{CLOSE}"),
        Mark::Object(object) => format!("{OPEN}{object}{CLOSE}"),
    }
}

/// The text with names in place of marks. Brackets that are no marks stay.
pub fn resolve(text: &str, mut name: impl FnMut(Mark) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.push_str(before);
        match after.split_once(CLOSE).and_then(|(inside, after)| Some((read(inside)?, after))) {
            Some((what, after)) => {
                out.push_str(&name(what));
                rest = after;
            }
            None => {
                out.write_char(OPEN).expect("a string takes everything");
                rest = after;
            }
        }
    }
    out + rest
}

fn read(inside: &str) -> Option<Mark> {
    match inside.split_once('+') {
        Some((module, offset)) => {
            let offset = u64::from_str_radix(offset, 16).ok()?;
            Some(Mark::Code(Code { module: module.parse().ok()?, offset }))
        }
        None => inside.parse().ok().map(Mark::Object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_replaced_and_other_brackets_stay() {
        let code = Mark::Code(Code { module: 2, offset: 0x1f });
        let text = format!("a {} ⟦x⟧ b {}", mark(code), mark(Mark::Object(7)));
        let mut seen = Vec::new();
        let told = resolve(&text, |what| {
            seen.push(what);
            String::from("N")
        });
        assert_eq!(told, "a N ⟦x⟧ b N");
        assert_eq!(seen, [code, Mark::Object(7)]);
    }
}
