//! Places in the source, as numbers: the address of the compiler's own record.

use std::panic::Location;

use unpick_core::op::{Site, ThreadId};
use unpick_core::trace::Place;

/// The number of a place.
#[inline(always)]
pub fn site(location: &'static Location<'static>) -> Site {
    Site(location as *const Location<'static> as u64)
}

/// The compiler's record that a number stands for.
pub(crate) fn location(site: Site) -> Option<&'static Location<'static>> {
    // SAFETY: sites other than 0 are made by `site`, from records that live for ever.
    (site.0 != 0).then(|| unsafe { &*(site.0 as *const Location<'static>) })
}

/// The place that a number stands for.
pub fn place(site: Site) -> Option<Place> {
    let location = location(site)?;
    Some(Place { file: location.file().to_string(), line: location.line(), column: location.column() })
}

/// The place that a number stands for, as text.
pub fn describe(site: Site) -> String {
    place(site).map_or_else(|| String::from("an unknown place"), |p| format!("{}:{}", p.file, p.line))
}

/// How a thread without a name of its own is called.
pub fn thread_name(thread: ThreadId) -> String {
    if thread == ThreadId::MAIN { String::from("main") } else { thread.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_its_place() {
        let here = Location::caller();
        let found = place(site(here)).expect("a place");
        assert_eq!(
            (found.file.as_str(), found.line, found.column),
            (here.file(), here.line(), here.column())
        );
        assert_eq!(describe(site(here)), format!("{}:{}", here.file(), here.line()));
    }

    #[test]
    fn nothing_is_known_of_0() {
        assert!(location(Site(0)).is_none() && place(Site(0)).is_none());
        assert_eq!(describe(Site(0)), "an unknown place");
    }

    #[test]
    fn the_main_thread_has_a_name() {
        assert_eq!([thread_name(ThreadId::MAIN), thread_name(ThreadId(2))], ["main", "T2"]);
    }
}
