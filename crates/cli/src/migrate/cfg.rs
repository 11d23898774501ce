//! Code that is there only when a tool is not: `#[cfg(not(loom))]`.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Lit, Meta, Token};

/// Whether what has these attributes is left out of a build for a tool. What else a build sets is not known.
pub(super) fn is_off(attributes: &[Attribute], tool: &str) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.path().is_ident("cfg").then(|| attribute.parse_args::<Meta>());
        matches!(condition, Some(Ok(condition)) if holds(&condition, tool) == Some(false))
    })
}

/// Whether a condition holds in a build for a tool, if that can be said. Crates name flags and features after the tool, such as
/// `crossbeam_loom`.
fn holds(condition: &Meta, tool: &str) -> Option<bool> {
    match condition {
        Meta::Path(flag) => flag.get_ident()?.to_string().contains(tool).then_some(true),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(value) if pair.path.is_ident("feature") => match &value.lit {
                Lit::Str(name) => name.value().contains(tool).then_some(true),
                _ => None,
            },
            _ => None,
        },
        Meta::List(list) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
            let parts: Vec<Option<bool>> = parts.iter().map(|part| holds(part, tool)).collect();
            let has = |value| parts.contains(&Some(value));
            let only = |value| parts.iter().all(|part| *part == Some(value)).then_some(value);
            match list.path.get_ident()?.to_string().as_str() {
                "not" => parts.first().copied().flatten().map(|value| !value),
                "all" if has(false) => Some(false),
                "all" => only(true),
                "any" if has(true) => Some(true),
                "any" => only(false),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_looked_at_as_far_as_they_name_the_tool() {
        let off = |text: &str, tool: &str| {
            let item: syn::ItemStruct = syn::parse_str(&format!("{text} struct S;")).expect("it is Rust");
            is_off(&item.attrs, tool)
        };
        for text in [
            "#[cfg(not(loom))]",
            "#[cfg(not(any(loom, feature = \"shuttle\")))]",
            "#[cfg(all(test, not(crossbeam_loom)))]",
            "#[inline] #[cfg(not(feature = \"loom\"))]",
        ] {
            assert!(off(text, "loom"), "{text}");
        }
        assert!(off("#[cfg(not(any(loom, feature = \"shuttle\")))]", "shuttle"));
        for text in
            ["#[cfg(loom)]", "#[cfg(not(unix))]", "#[cfg(all(loom, not(feature = \"shuttle\")))]", "#[test]"]
        {
            assert!(!off(text, "loom"), "{text}");
        }
    }
}
