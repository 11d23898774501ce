//! With checks: the function becomes a test that checks it.

use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

use crate::arguments::{self, Arguments};
use crate::parse::{self, Function, Problem};
use crate::{bracketed, joint, path, plain, plain_test, refuse, sign, text};

pub(crate) fn expand(arguments: &[TokenTree], item: &[TokenTree]) -> TokenStream {
    let read = match arguments::arguments(&plain(arguments)) {
        Ok(read) => read,
        Err(problem) => return refuse(&problem, arguments, item),
    };
    match parse::function(&plain(item)) {
        Ok(function) => expanded(&read, &function, arguments, item),
        Err(problem) => refuse(&problem, item, &[]),
    }
}

/// ```text
/// #[::core::prelude::v1::test]
/// attributes fn name() {
///     fn name() -> Type { body }
///     unpick::attribute::check(&[(variable, value), ...], || unpick::attribute::settle(name()))
/// }
/// ```
fn expanded(
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

    let mut out = Vec::from(plain_test());
    out.extend(item[function.before.clone()].iter().cloned());
    out.push(TokenTree::Ident(Ident::new("fn", name.span())));
    out.extend([name.clone(), bracketed(Delimiter::Parenthesis, TokenStream::new())]);
    out.push(bracketed(Delimiter::Brace, body.into_iter().collect()));
    out.into_iter().collect()
}
