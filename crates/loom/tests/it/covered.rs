//! Which items there are, and which of them a list for `cargo unpick migrate --check` takes for covered. The tests of
//! `unpick-shuttle` use this file too.

use std::collections::BTreeSet;

/// Names each item of a package, and brings it in, which fails to compile if it is not there.
macro_rules! items {
    ($package:ident: $($($part:ident)::+),* $(,)?) => {
        const ITEMS: &[&str] = &[$(stringify!($($part)::+)),*];
        #[allow(deprecated, unused_imports)]
        mod there {
            $(const _: () = {
                #[allow(unused_imports)]
                use $package::$($part)::+;
            };)*
        }
    };
}

/// The covered items of a list.
pub(crate) fn covered(list: &str) -> BTreeSet<String> {
    let lines = list.lines().filter(|line| !line.starts_with(['#', '.']) && !line.contains(" ! "));
    lines.map(String::from).collect()
}

/// The items that there are.
pub(crate) fn there(items: &[&str]) -> BTreeSet<String> {
    items.iter().map(|item| item.replace(' ', "")).collect()
}
