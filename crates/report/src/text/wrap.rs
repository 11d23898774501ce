//! Text in columns of a terminal: how wide it is, how to break it, what to escape.

use unicode_width::UnicodeWidthStr;

/// Columns that the text takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text followed by blanks, so that it takes at least so many columns.
pub(super) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text without control characters, and without those that turn the direction of text.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            '\n' | '\r' => out.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.extend(c.escape_unicode()),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Lines of at most so many columns, broken between words where possible. The first is indented by
/// `first`, all others by `rest`.
pub(super) fn wrap(text: &str, columns: usize, first: usize, rest: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut line = " ".repeat(first);
    let mut empty = true;
    for word in text.split_whitespace() {
        let mut word = word;
        if !empty && width(&line) + 1 + width(word) > columns {
            out.push(std::mem::replace(&mut line, " ".repeat(rest)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        while let Some(fits) = part_that_fits(word, columns.saturating_sub(width(&line))) {
            line.push_str(&word[..fits]);
            word = &word[fits..];
            out.push(std::mem::replace(&mut line, " ".repeat(rest)));
        }
        line.push_str(word);
        empty = false;
    }
    if !empty {
        out.push(line);
    }
    out
}

/// Length in bytes of the beginning of a word that fits; `None` when all of it does.
fn part_that_fits(word: &str, columns: usize) -> Option<usize> {
    // A room of a few columns would break words into crumbs.
    let columns = columns.max(8);
    if width(word) <= columns {
        return None;
    }
    let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.take_while(|end| width(&word[..*end]) <= columns).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_inside_long_ones() {
        assert_eq!(wrap("one two three", 8, 0, 2), ["one two", "  three"]);
        assert_eq!(wrap("a 0123456789abcdef", 10, 0, 0), ["a", "0123456789", "abcdef"]);
        assert_eq!(wrap("漢字 漢字漢字", 9, 0, 0), ["漢字", "漢字漢字"]);
        assert_eq!(wrap("漢字漢字漢字", 9, 0, 0), ["漢字漢字", "漢字"]);
        assert!(wrap("  ", 9, 0, 0).is_empty());
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\x1b[1m\tb\nc\u{202e}"), "a\\u{1b}[1m    b c\\u{202e}");
    }
}
