//! Tokens of the text form.
//!
//! The rule: every token knows its byte offset, so that every error can point at its cause.

use crate::parse::ParseError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    Word(&'s str),
    Number(i64),
    Symbol(&'s str),
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(text) | Token::Symbol(text) => write!(f, "`{text}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 17] =
    ["||", "==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "(", ")", "{", "}", ";", ",", "/"];

/// Splits `source` into tokens with their offsets; the last one is `End`.
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token<'_>, usize)>, ParseError> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let text = &rest[..length];
            let token = if first.is_ascii_digit() {
                let number = text.parse();
                Token::Number(number.map_err(|_| ParseError::new(at, format!("`{text}` is not a number")))?)
            } else {
                Token::Word(text)
            };
            out.push((token, at));
            length
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            out.push((Token::Symbol(symbol), at));
            symbol.len()
        } else {
            return Err(ParseError::new(at, format!("unexpected character `{first}`")));
        };
        at += length;
    }
    out.push((Token::End, source.len()));
    Ok(out)
}
