//! The attribute [`macro@test`] of unpick.
//!
//! Users take it from the `unpick` crate, as `#[unpick::test]`. There is no parser of Rust in here:
//! the attribute reads pairs of names and literals, and of the function no more than where its parts
//! begin.

#![forbid(unsafe_code)]

mod parse;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use parse::{Arguments, Function, Problem, Token};

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
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let (arguments, item): (Vec<_>, Vec<_>) = (arguments.into_iter().collect(), item.into_iter().collect());
    let read = match parse::arguments(&plain(&arguments)) {
        Ok(read) => read,
        Err(problem) => return refuse(&problem, &arguments, &item),
    };
    match parse::function(&plain(&item)) {
        Ok(function) => expand(&read, &function, &arguments, &item),
        Err(problem) => refuse(&problem, &item, &[]),
    }
}

/// The settings of [`macro@test`], as the rows of a table in Markdown: for its documentation.
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

/// ```text
/// #[::core::prelude::v1::test]
/// attributes fn name() {
///     fn name() -> Type { body }
///     unpick::attribute::check(&[(variable, value), ...], || unpick::attribute::settle(name()))
/// }
/// ```
fn expand(
    arguments: &Arguments,
    function: &Function,
    argument_tokens: &[TokenTree],
    item: &[TokenTree],
) -> TokenStream {
    let library = match &arguments.path {
        None => path("::unpick"),
        Some((path, at)) => {
            let span = argument_tokens[*at].span();
            let Ok(parsed) = path.parse::<TokenStream>() else {
                let problem = Problem { at: Some(*at), message: String::from("this is no path") };
                return refuse(&problem, argument_tokens, item);
            };
            let mut parsed: Vec<TokenTree> = parsed.into_iter().collect();
            parsed.iter_mut().for_each(|token| token.set_span(span));
            parsed
        }
    };
    let called = |name: &str, inner: TokenStream| {
        let mut call = library.clone();
        call.extend(path(&format!("::{name}")));
        call.push(bracketed(Delimiter::Parenthesis, inner));
        call
    };
    let name = &item[function.name];
    let mut run = vec![name.clone(), bracketed(Delimiter::Parenthesis, TokenStream::new())];
    if function.is_async {
        run = called("future::block_on", run.into_iter().collect());
    }
    let mut inner: Vec<TokenTree> = vec![sign('&')];
    let pairs = arguments.settings.iter().flat_map(|(variable, value)| {
        let pair = [text(variable), sign(','), text(value)];
        [bracketed(Delimiter::Parenthesis, pair.into_iter().collect()), sign(',')]
    });
    inner.extend([bracketed(Delimiter::Bracket, pairs.collect()), sign(',')]);
    inner.extend([joint('|'), sign('|')]);
    inner.extend(called("attribute::settle", run.into_iter().collect()));

    let mut body: Vec<TokenTree> = item[function.signature.clone()].to_vec();
    body.push(item[function.body].clone());
    body.extend(called("attribute::check", inner.into_iter().collect()));

    let mut out = vec![
        sign('#'),
        bracketed(Delimiter::Bracket, path("::core::prelude::v1::test").into_iter().collect()),
    ];
    out.extend(item[function.before.clone()].iter().cloned());
    out.push(TokenTree::Ident(Ident::new("fn", name.span())));
    out.extend([name.clone(), bracketed(Delimiter::Parenthesis, TokenStream::new())]);
    out.push(bracketed(Delimiter::Brace, body.into_iter().collect()));
    out.into_iter().collect()
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
