//! Rust text without its comments and literals, so that brackets can be matched.
//!
//! Comments become blanks, and string and character literals become quotation marks, one for one:
//! an index into the masked text is an index into the text. No other token is looked at.

/// The text with comments as blanks and literals as `"`; ends of lines stay.
pub(super) fn mask(text: &[char]) -> Vec<char> {
    let mut out = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let in_word = at > 0 && is_word(text[at - 1]);
        let (len, fill) = match rest {
            ['/', '/', ..] => (rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()), ' '),
            ['/', '*', ..] => (block_comment(rest), ' '),
            ['"', ..] => (quoted(rest, '"'), '"'),
            ['r', '"' | '#', ..] if !in_word || literal_prefix(text, at) => match raw_string(rest) {
                Some(len) => (len, '"'),
                None => (1, 'r'),
            },
            ['\'', '\\', ..] => (quoted(rest, '\''), '"'),
            ['\'', _, '\'', ..] => (3, '"'),
            // Anything else, lifetimes included, stays.
            _ => (1, rest[0]),
        };
        for slot in &mut out[at..at + len] {
            if *slot != '\n' {
                *slot = fill;
            }
        }
        at += len;
    }
    out
}

/// Whether the character can be part of a name or a number.
pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether the `r` at this index follows the `b` or `c` of a raw byte or C string.
fn literal_prefix(text: &[char], at: usize) -> bool {
    matches!(text[at - 1], 'b' | 'c') && (at < 2 || !is_word(text[at - 2]))
}

/// Length of the block comment that the text begins with; comments nest.
fn block_comment(text: &[char]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        match text[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of the literal that the text begins with, to its first quote without a backslash.
fn quoted(text: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of the raw string that the text begins with; `None` for a raw identifier.
fn raw_string(text: &[char]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|c| **c == '#').count();
    let body = 1 + hashes + 1;
    if text.get(body - 1) != Some(&'"') {
        return None;
    }
    let closes = |at: &usize| text[*at] == '"' && text[at + 1..].iter().take(hashes).all(|c| *c == '#');
    Some((body..text.len()).find(closes).map_or(text.len(), |at| (at + 1 + hashes).min(text.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_go_and_lengths_stay() {
        let cases = [
            ("a // b (\nc", "a       \nc"),
            ("a/* ( /* ) */ ( */b", "a                 b"),
            ("f(\")\\\"\")", "f(\"\"\"\"\")"),
            ("x(')', '\\'', 'a)", "x(\"\"\", \"\"\"\", 'a)"),
            ("r#\"a\")\"# r#fn", "\"\"\"\"\"\"\"\" r#fn"),
            ("br\")\"", "b\"\"\"\""),
            ("\"open", "\"\"\"\"\""),
            ("'\\", "\"\""),
            ("r", "r"),
        ];
        for (text, expected) in cases {
            let chars: Vec<char> = text.chars().collect();
            assert_eq!(mask(&chars).into_iter().collect::<String>(), expected, "{text}");
        }
    }
}
