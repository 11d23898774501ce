//! Names of objects, taken from places that the compiler gave.

#[allow(clippy::all, reason = "odd spellings are what is tested")]
#[rustfmt::skip]
#[path = "../programs/receivers.rs"]
mod receivers;

use unpick_core::trace::Place;
use unpick_report::Sources;

const FILE: &str = "crates/report/tests/programs/receivers.rs";

#[test]
fn receivers_of_real_calls() {
    let mut sources = Sources::new();
    for ((line, column), expected) in receivers::calls() {
        let place = Place { file: FILE.into(), line, column };
        let shown = sources.line(&place).expect("the file is part of the repository");
        assert_eq!(sources.receiver(&place).as_deref(), expected, "{line}:{column}: {shown}");
    }
}

#[test]
fn places_that_do_not_exist_have_no_source() {
    let mut sources = Sources::new();
    let far = [(0, 1), (1, 0), (1, 999), (9_999, 1), (u32::MAX, u32::MAX)];
    for (line, column) in far {
        assert_eq!(sources.receiver(&Place { file: FILE.into(), line, column }), None);
    }
    for file in ["", "/", "crates", "no/such/file.rs", "a\0b", "/rustc/0/library/core/src/lib.rs"] {
        let place = Place { file: file.into(), line: 1, column: 1 };
        assert_eq!((sources.line(&place), sources.receiver(&place)), (None, None));
        assert_eq!((unpick_report::source::line(&place), unpick_report::receiver(&place)), (None, None));
    }
}
