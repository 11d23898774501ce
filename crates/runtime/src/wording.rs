//! Ops in words, for errors.

use unpick_core::op::{Kind, Op, Rmw, Site, ThreadId, Value};

use crate::site;

/// An op as a user would write it, on an object of a type of this name.
pub(crate) fn call(op: &Op, kind: &str) -> String {
    let (name, mode) = (op.name(), op.mode.name());
    let value = |value| value_of(kind, op.width, value);
    match (op.kind, op.rmw) {
        (Kind::Join, _) => format!("{name} {}", site::thread_name(ThreadId(op.operand as u32))),
        (Kind::Choice, _) => format!("{name}({})", op.operand),
        (Kind::Spawn | Kind::Finish, _) | (_, Rmw::Lock | Rmw::TryLock) => name.to_string(),
        (Kind::Fence, _) | (Kind::Read, Rmw::None) => format!("{name}({mode})"),
        (_, Rmw::Cas | Rmw::WeakCas) => {
            format!("{name}({}, {}, {mode})", value(op.expected), value(op.operand))
        }
        _ => format!("{name}({}, {mode})", value(op.operand)),
    }
}

/// A value as its type shows it.
fn value_of(kind: &str, width: u8, value: Value) -> String {
    let unused = 64 - 8 * u32::from(width);
    match kind {
        "AtomicBool" => (value != 0).to_string(),
        "AtomicPtr" => format!("{value:#x}"),
        _ if kind.starts_with("AtomicI") => (((value << unused) as i64) >> unused).to_string(),
        _ => value.to_string(),
    }
}

/// Where in the source, to be put after an op.
pub(crate) fn at(site: Site) -> String {
    site::place(site)
        .map_or_else(String::new, |place| format!(" at {}:{}:{}", place.file, place.line, place.column))
}

#[cfg(test)]
mod tests {
    use unpick_core::op::{Addr, Mode};

    use super::*;

    const X: Addr = Addr(0);
    const HERE: Site = Site(0);

    #[test]
    fn ops_are_called_as_in_the_source() {
        let relaxed = (Mode::Relaxed, Mode::Relaxed);
        for (op, said) in [
            (Op::load(X, Mode::Acquire, HERE), "load(Acquire)"),
            (Op::store(X, Mode::Release, 3, HERE), "store(3, Release)"),
            (Op::rmw(X, Rmw::Add, Mode::AcqRel, 2, HERE), "fetch_add(2, AcqRel)"),
            (Op::cas(X, relaxed, 1, 2, false, HERE), "compare_exchange(1, 2, Relaxed)"),
            (Op::fence(Mode::SeqCst, HERE), "fence(SeqCst)"),
            (Op::join(ThreadId(2), HERE), "join T2"),
            (Op::lock(X, HERE), "lock"),
        ] {
            assert_eq!(call(&op, "AtomicU64"), said);
        }
    }

    #[test]
    fn values_are_shown_as_their_type_shows_them() {
        for (kind, width, value, said) in [
            ("AtomicBool", 1, 1, "true"),
            ("AtomicPtr", 8, 255, "0xff"),
            ("AtomicI8", 1, 0xff, "-1"),
            ("AtomicI64", 8, u64::MAX, "-1"),
            ("AtomicI32", 4, 0x7fff_ffff, "2147483647"),
            ("AtomicU8", 1, 0xff, "255"),
        ] {
            assert_eq!(value_of(kind, width, value), said, "{kind}");
        }
    }

    #[test]
    fn a_place_that_is_not_known_is_left_out() {
        assert_eq!(at(HERE), "");
        let here = std::panic::Location::caller();
        assert_eq!(at(site::site(here)), format!(" at {here}"));
    }
}
