//! The expression that a method is called on, found by reading backwards from the method's name.
//!
//! The grammar is that of postfix expressions: a path, `self` or something in parentheses, then
//! fields, indices, calls and `?`. Prefix operators bind weaker than a method call, so `*` and `&`
//! to the left belong to the result of the call, not to the receiver. Everything else (blocks,
//! closures, generic arguments, macros) is given up on: the result names an object in a report, and
//! no name is better than a misleading one.

use super::mask::is_word;

/// Longest receiver that still reads as a name.
const MAX_CHARS: usize = 40;

/// How far back to look, in characters: blanks and comments count.
const MAX_DISTANCE: usize = 2_000;

const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "do", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref",
    "return", "static", "struct", "trait", "true", "type", "unsafe", "use", "where", "while", "yield",
];

/// The receiver of the method whose name begins at `at`.
pub(super) fn before(text: &[char], masked: &[char], at: usize) -> Option<String> {
    if !is_word(*masked.get(at)?) || is_word(last(masked, at)) {
        return None;
    }
    let end = before_dot(masked, skip_blanks(masked, at))?;
    let floor = end.saturating_sub(MAX_DISTANCE);
    let start = floor + start_of_postfix(&masked[floor..end])?;
    let receiver = plain(on_one_line(&text[start..end], &masked[start..end]));
    let odd = masked[start..end].iter().any(|c| matches!(c, '{' | '}' | ';' | '|'));
    (!odd && receiver.chars().count() <= MAX_CHARS).then_some(receiver)
}

/// Where the postfix expression begins that the text ends with.
fn start_of_postfix(masked: &[char]) -> Option<usize> {
    let mut end = skip_blanks(masked, masked.len());
    loop {
        match last(masked, end) {
            '?' => end = skip_blanks(masked, end - 1),
            close @ (')' | ']') => {
                let open = opening(masked, end - 1)?;
                let left = skip_blanks(masked, open);
                match last(masked, left) {
                    // A call or an index of what stands to the left, unless that is a keyword.
                    ')' | ']' | '?' => end = left,
                    c if is_word(c) && !is_keyword(word(masked, left).1) => end = left,
                    // The `!` may be that of a macro, the `>` that of generic arguments.
                    '!' => return None,
                    '>' if last(masked, left - 1) != '=' => return None,
                    _ if close == ')' => return Some(open),
                    _ => return None,
                }
            }
            c if is_word(c) => {
                let (start, name) = word(masked, end);
                let left = skip_blanks(masked, start);
                if let Some(dot) = before_dot(masked, left) {
                    end = skip_blanks(masked, dot);
                } else if is_keyword(name) || name[0].is_ascii_digit() {
                    return None;
                } else if left >= 2 && masked[left - 2..left] == [':', ':'] {
                    end = skip_blanks(masked, left - 2);
                } else {
                    // A lifetime, a raw name or a variable of a macro.
                    let odd = matches!(last(masked, start), '\'' | '#' | '$');
                    return (!odd).then_some(start);
                }
            }
            _ => return None,
        }
    }
}

/// The character before an index; a blank at the start of the text.
fn last(masked: &[char], end: usize) -> char {
    end.checked_sub(1).map_or(' ', |at| masked[at])
}

/// The end of the text before an index, blanks left out.
fn skip_blanks(masked: &[char], end: usize) -> usize {
    masked[..end].iter().rposition(|c| !c.is_whitespace()).map_or(0, |at| at + 1)
}

/// The index of the dot that ends there, if one does and it is not part of a range.
fn before_dot(masked: &[char], end: usize) -> Option<usize> {
    (last(masked, end) == '.' && last(masked, end - 1) != '.').then(|| end - 1)
}

/// The bracket that opens what the one at `close` closes.
fn opening(masked: &[char], close: usize) -> Option<usize> {
    let mut expected = Vec::new();
    for at in (0..=close).rev() {
        match masked[at] {
            ')' => expected.push('('),
            ']' => expected.push('['),
            '}' => expected.push('{'),
            c @ ('(' | '[' | '{') => {
                if expected.pop() != Some(c) {
                    return None;
                }
                if expected.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The word that ends there, and where it begins.
fn word(masked: &[char], end: usize) -> (usize, &[char]) {
    let start = masked[..end].iter().rposition(|c| !is_word(*c)).map_or(0, |at| at + 1);
    (start, &masked[start..end])
}

fn is_keyword(word: &[char]) -> bool {
    KEYWORDS.iter().any(|k| k.chars().eq(word.iter().copied()))
}

/// The text with comments and line breaks gone, and no blanks around dots and inside brackets.
fn on_one_line(text: &[char], masked: &[char]) -> String {
    let mut out = String::new();
    let mut blank = false;
    for (&c, &mask) in text.iter().zip(masked) {
        if mask.is_whitespace() {
            blank = true;
            continue;
        }
        let tight = out.ends_with(['.', '(', '[']) || matches!(c, '.' | ')' | ']' | '?' | ',');
        if blank && !tight && !out.is_empty() {
            out.push(' ');
        }
        out.push(c);
        blank = false;
    }
    out.replace(",)", ")")
}

/// `(&a.b)` as `a.b`: borrowing says nothing about which object it is.
fn plain(receiver: String) -> String {
    let inner = receiver.strip_prefix("(&").and_then(|r| r.strip_suffix(')'));
    let inner = inner.map(|i| i.strip_prefix("mut ").unwrap_or(i).trim_start());
    match inner {
        Some(i) if !i.is_empty() && i.chars().all(|c| is_word(c) || ".:[]".contains(c)) => i.to_owned(),
        _ => receiver,
    }
}

#[cfg(test)]
mod tests {
    use super::super::mask::mask;
    use super::*;

    /// The receiver of the method at the mark `@`.
    fn receiver(text: &str) -> Option<String> {
        let at = text.find('@').expect("the text has a mark");
        let chars: Vec<char> = text.replace('@', "").chars().collect();
        before(&chars, &mask(&chars), text[..at].chars().count())
    }

    #[test]
    fn receivers_that_name_an_object() {
        let cases = [
            ("flag.@load(Acquire)", "flag"),
            ("self.head.@load(x)", "self.head"),
            ("let a = unsafe { (*node).next.@load(x) };", "(*node).next"),
            ("if slots[i].@load(x) == 1", "slots[i]"),
            ("QUEUE.tail.@store(1, x)", "QUEUE.tail"),
            ("crate::a::FLAG.@load(x)", "crate::a::FLAG"),
            ("assert_eq!(self.0.@load(x), 1)", "self.0"),
            ("*flag.@load(x)", "flag"),
            ("&flag.@load(x)", "flag"),
            ("!flag.@load(x)", "flag"),
            ("a..b.@load(x)", "b"),
            ("(&flag).@load(x)", "flag"),
            ("(&mut s.flag).@load(x)", "s.flag"),
            ("(*p).@load(x)", "(*p)"),
            ("if (*p).@load(x)", "(*p)"),
            ("A => (*p).@load(x)", "(*p)"),
            ("f(a, g(b)[c]).d?.@load(x)", "f(a, g(b)[c]).d?"),
            ("map[\")\"].@load(x)", "map[\")\"]"),
            ("self\n    .inner // the (\n    .flag\n    .@load(x)", "self.inner.flag"),
            ("self.get(\n    key,\n)\n.@load(x)", "self.get(key)"),
            ("return flag.@load(x)", "flag"),
            ("for i in slots[a + 1].@lock()", "slots[a + 1]"),
            ("é.@load(x)", "é"),
            ("x.await.flag.@load(y)", "x.await.flag"),
        ];
        for (text, expected) in cases {
            assert_eq!(receiver(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn anything_odd_is_given_up_on() {
        let cases = [
            "@load(x)",
            ".@load(x)",
            "AtomicBool::@load(&flag, x)",
            "fl.l@oad(x)",
            "unsafe { &*p }.@load(x)",
            "get::<u8>(a).@load(x)",
            "Vec::<u8>::new().@load(x)",
            "cell!(a).@load(x)",
            "vec![a].@load(x)",
            "[a].@load(x)",
            "with(|c| c).@load(x)",
            "with({ a }).@load(x)",
            "(a].@load(x)",
            "a).@load(x)",
            "\"a\".@load(x)",
            "1.0.@load(x)",
            "r#fn.@load(x)",
            "a_very_long_name.of_a_field.in_some.structure.@load(x)",
            "match.@load(x)",
            "..@load(x)",
            "a.@",
        ];
        for text in cases {
            assert_eq!(receiver(text), None, "{text}");
        }
    }
}
