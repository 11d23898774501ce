//! Without checks: the function is left out. A test of its name stands in its place, and is passed over, since it would prove nothing.
//!
//! So the attribute needs nothing of the library, and the crate builds whatever the function uses.

use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

use crate::{bracketed, parse, path, plain, plain_test, refuse, sign, text};

/// What the harness says of such a test.
const REASON: &str = "not checked: unpick's feature `check` is off; turn it on in [dev-dependencies]";

/// ```text
/// #[::core::prelude::v1::test]
/// attributes that pass it over, and say why; other attributes
/// fn name() { panic!(why) }
/// ```
pub(crate) fn expand(_: &[TokenTree], item: &[TokenTree]) -> TokenStream {
    let function = match parse::function(&plain(item)) {
        Ok(function) => function,
        Err(problem) => return refuse(&problem, item, &[]),
    };
    let name = &item[function.name];
    let word = |word: &str| TokenTree::Ident(Ident::new(word, Span::call_site()));
    let mut out = Vec::from(plain_test());
    let passed_over = [word("ignore"), sign('='), text(REASON)];
    out.extend([sign('#'), bracketed(Delimiter::Bracket, passed_over.into_iter().collect())]);
    out.extend(item[function.before].iter().cloned());
    out.push(TokenTree::Ident(Ident::new("fn", name.span())));
    out.extend([name.clone(), bracketed(Delimiter::Parenthesis, TokenStream::new())]);
    let mut body = path("::core::panic");
    body.extend([sign('!'), bracketed(Delimiter::Parenthesis, [text(REASON)].into_iter().collect())]);
    out.push(bracketed(Delimiter::Brace, body.into_iter().collect()));
    out.into_iter().collect()
}
