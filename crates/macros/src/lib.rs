//! The attribute [`macro@test`] of unpick.
//!
//! Users take it from the `unpick` crate, as `#[unpick::test]`. There is no parser of Rust in here:
//! the attribute reads pairs of names and literals, and of the function no more than where its parts
//! begin.

#![forbid(unsafe_code)]

#[cfg(feature = "check")]
mod arguments;
#[cfg(feature = "check")]
mod checked;
mod parse;
#[cfg(not(feature = "check"))]
mod unchecked;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use parse::{Problem, Token};

/// Makes a function a test that is checked in every execution.
///
/// ```text
/// #[unpick::test]
/// fn counts() { /* ... */ }
///
/// #[unpick::test(model = "sc", time = "10s")]
/// async fn waits() -> Result<(), Error> { /* ... */ }
/// ```
///
/// The documentation of `unpick::test` has the settings and examples that run.
///
/// Without the feature `check` nothing of it is left in an ordinary build, and a build of tests has a test in its place that is
/// passed over and says why.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let (arguments, item): (Vec<_>, Vec<_>) = (arguments.into_iter().collect(), item.into_iter().collect());
    #[cfg(feature = "check")]
    let expanded = checked::expand(&arguments, &item);
    #[cfg(not(feature = "check"))]
    let expanded = unchecked::expand(&arguments, &item);
    expanded
}

/// The settings of [`macro@test`], as the rows of a table in Markdown: for its documentation.
#[cfg(feature = "check")]
#[doc(hidden)]
#[proc_macro]
pub fn settings(_: TokenStream) -> TokenStream {
    let rows: Vec<String> = unpick_settings::Setting::rows(true).collect();
    TokenStream::from(text(&rows.join("\n")))
}

/// The tokens as the parser wants them.
fn plain(tokens: &[TokenTree]) -> Vec<Token> {
    let plain = |token: &TokenTree| match token {
        TokenTree::Ident(word) => Token::Word(word.to_string()),
        TokenTree::Literal(literal) => Token::Literal(literal.to_string()),
        TokenTree::Punct(sign) => Token::Sign(sign.as_char()),
        TokenTree::Group(group) => {
            let bracket = match group.delimiter() {
                Delimiter::Parenthesis => '(',
                Delimiter::Brace => '{',
                Delimiter::Bracket => '[',
                Delimiter::None => ' ',
            };
            Token::Group(bracket, group.stream().is_empty())
        }
    };
    tokens.iter().map(plain).collect()
}

/// An error of the compiler, at the token that is wrong. The function is kept, so that the compiler
/// does not go on to miss what it uses.
fn refuse(problem: &Problem, tokens: &[TokenTree], kept: &[TokenTree]) -> TokenStream {
    let span = problem.at.and_then(|at| tokens.get(at)).map_or_else(Span::call_site, TokenTree::span);
    let message = bracketed(Delimiter::Brace, [text(&problem.message)].into_iter().collect());
    let mut error: Vec<TokenTree> = path("::core::compile_error");
    error.extend([sign('!'), message]);
    error.iter_mut().for_each(|token| token.set_span(span));
    error.extend(kept.iter().cloned());
    error.into_iter().collect()
}

/// The attribute `#[test]` of the language.
fn plain_test() -> [TokenTree; 2] {
    [sign('#'), bracketed(Delimiter::Bracket, path("::core::prelude::v1::test").into_iter().collect())]
}

/// The tokens of a path such as `::core::compile_error`.
fn path(path: &str) -> Vec<TokenTree> {
    let mut tokens = Vec::new();
    for (index, part) in path.split("::").enumerate() {
        if index > 0 {
            tokens.extend([joint(':'), sign(':')]);
        }
        if !part.is_empty() {
            tokens.push(TokenTree::Ident(Ident::new(part, Span::call_site())));
        }
    }
    tokens
}

fn sign(sign: char) -> TokenTree {
    TokenTree::Punct(Punct::new(sign, Spacing::Alone))
}

fn joint(sign: char) -> TokenTree {
    TokenTree::Punct(Punct::new(sign, Spacing::Joint))
}

fn text(text: &str) -> TokenTree {
    TokenTree::Literal(Literal::string(text))
}

fn bracketed(delimiter: Delimiter, inner: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(delimiter, inner))
}
