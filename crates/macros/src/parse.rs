//! From tokens to what they say. Tokens are plain data here, so that tests can make them; they are
//! named by their index, and whoever has the compiler's tokens finds the place of a problem by it.

use std::ops::Range;

/// One token, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word.
    Word(String),
    /// A number, text or other literal, as it is written.
    Literal(String),
    /// A sign.
    Sign(char),
    /// Something in brackets of this kind, and whether it is empty.
    Group(char, bool),
}

/// What is wrong, and with which token; `None`: with the attribute as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) at: Option<usize>,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(at: usize, message: String) -> Problem {
        Problem { at: Some(at), message }
    }
}

/// The function under the attribute; ranges and numbers are those of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Attributes and visibility.
    pub(crate) before: Range<usize>,
    /// `async fn name() -> Type`: all but the body.
    pub(crate) signature: Range<usize>,
    pub(crate) is_async: bool,
    pub(crate) name: usize,
    pub(crate) body: usize,
}

/// Reads the function under the attribute.
pub(crate) fn function(tokens: &[Token]) -> Result<Function, Problem> {
    let no_function = |at: usize| {
        let message = String::from("`unpick::test` stands above a function: `fn name() { ... }`");
        Problem { at: (at < tokens.len()).then_some(at), message }
    };
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let mut at = 0;
    while tokens.get(at) == Some(&Token::Sign('#')) {
        at += 2;
    }
    if word(at) == "pub" {
        at += 1;
        at += usize::from(matches!(tokens.get(at), Some(Token::Group('(', _))));
    }
    let start = at;
    let mut is_async = false;
    while word(at) != "fn" {
        match word(at) {
            "async" => is_async = true,
            other @ ("const" | "unsafe" | "extern") => {
                return Err(Problem::new(at, format!("a test cannot be `{other}`; take the word away")));
            }
            _ => return Err(no_function(at)),
        }
        at += 1;
    }
    let name = at + 1;
    if word(name).is_empty() {
        return Err(no_function(name));
    }
    at = name + 1;
    match tokens.get(at) {
        Some(Token::Group('(', true)) => at += 1,
        Some(Token::Group('(', false)) => {
            let message = "a test takes no arguments; make what it needs in its body";
            return Err(Problem::new(at, String::from(message)));
        }
        Some(Token::Sign('<')) => {
            let message = "a test has no type parameters; call a generic function from its body";
            return Err(Problem::new(at, String::from(message)));
        }
        _ => return Err(no_function(at)),
    }
    // The body is the last token; a return type may have braces in it.
    let body = tokens.len() - 1;
    if body < at || !matches!(tokens[body], Token::Group('{', _)) {
        return Err(Problem::new(body, String::from("a test has a body: `{ ... }`")));
    }
    Ok(Function { before: 0..start, signature: start..body, is_async, name, body })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Tokens of a line in which they are separated by spaces; groups are `(...)`, `{...}`, `[...]`.
    pub(crate) fn tokens(line: &str) -> Vec<Token> {
        let token = |text: &str| match text.chars().next() {
            Some(open @ ('(' | '{' | '[')) => Token::Group(open, text.len() == 2),
            Some('"' | '0'..='9') => Token::Literal(text.to_string()),
            Some(first) if first.is_alphabetic() => Token::Word(text.to_string()),
            first => Token::Sign(first.unwrap_or(' ')),
        };
        line.split_whitespace().map(token).collect()
    }

    pub(crate) fn refused<T: std::fmt::Debug>(read: Result<T, Problem>, at: usize, message: &str) {
        let problem = read.expect_err(message);
        assert_eq!(problem.at, Some(at), "{problem:?}");
        assert!(problem.message.contains(message), "{problem:?}");
    }

    #[test]
    fn functions_are_taken_apart() {
        let read = function(&tokens("# [test] pub (crate) fn name () {body}")).expect("a function");
        let expected = Function { before: 0..4, signature: 4..7, is_async: false, name: 5, body: 7 };
        assert_eq!(read, expected);
        let read = function(&tokens("async fn name () - > Result < () , Error > {body}")).expect("async");
        assert!(read.is_async);
        assert_eq!((read.signature, read.body), (0..12, 12));
    }

    #[test]
    fn what_is_no_test_is_refused() {
        let read = |line: &str| function(&tokens(line));
        refused(read("struct Name ;"), 0, "stands above a function");
        refused(read("fn name (n) {}"), 2, "takes no arguments");
        refused(read("fn name < T > () {}"), 2, "no type parameters");
        refused(read("pub unsafe fn name () {}"), 1, "cannot be `unsafe`");
        refused(read("fn name () ;"), 3, "has a body");
        assert_eq!(read("").expect_err("nothing").at, None);
    }
}
